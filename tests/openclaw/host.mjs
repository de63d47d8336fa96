// What OpenClaw gives to a plug-in, as far as this one uses it, and takes down what it registers.
import { setTimeout as sleep } from "node:timers/promises";

export { default as plugin } from "../../integrations/openclaw/index.js";

/** An `api` for `register`; `pluginConfig` is the plug-in's, `config` OpenClaw's. */
export function api({ pluginConfig = {}, config = {}, workspaces = {}, registrationMode = "full" } = {}) {
  const logged = [];
  const registered = { tools: new Map(), hooks: {}, services: [], commands: [], capability: undefined };
  const log = (line) => logged.push(line);
  return {
    registrationMode,
    pluginConfig,
    config,
    logger: { info: log, warn: log, error: log },
    runtime: {
      config: { current: () => config },
      agent: { resolveAgentWorkspaceDir: (_config, agent) => workspaces[agent] },
    },
    registerCli: (registrar, options) => registered.commands.push({ registrar, options }),
    registerMemoryCapability: (capability) => (registered.capability = capability),
    registerTool: (factory, { names }) => registered.tools.set(names[0], factory),
    registerService: (service) => registered.services.push(service),
    on: (name, handler, options) => (registered.hooks[name] = { handler, options }),
    registered,
    logged,
  };
}

export const tell = (answer) => process.stdout.write(JSON.stringify(answer));

/** What a promise is rejected with: its class and message. */
export const fault = (promise) =>
  promise.then(
    () => null,
    (error) => ({ kind: error.constructor.name, message: error.message, code: error.code, data: error.data }),
  );

/** Until `holds` gives something; undefined after `seconds`. */
export async function waitFor(holds, seconds = 10) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(20)) {
    const found = holds();
    if (found) return found;
  }
  return undefined;
}

/** Whether a process is there. */
export function pid(number) {
  try {
    return process.kill(number, 0);
  } catch {
    return false;
  }
}
