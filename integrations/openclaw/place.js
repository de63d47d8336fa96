/** Which agent and which workspace a call is about, as OpenClaw resolves them. */

const MAIN = "main";

/**
 * The agent of a session key (`agent:<id>:…`), or undefined.
 *
 * @param {string | undefined} sessionKey
 */
export const agentOfSession = (sessionKey) => /^agent:([^:]+):/.exec(sessionKey ?? "")?.[1];

/** How a session talks: "direct", "group" or "channel"; undefined where its key does not tell. */
export function chatTypeOf(sessionKey) {
  const parts = (sessionKey ?? "").split(":");
  if (parts.includes("group")) return "group";
  if (parts.includes("channel")) return "channel";
  return parts.includes("direct") || parts.includes("dm") || parts.at(-1) === MAIN ? "direct" : undefined;
}

/** The agent that is meant where none is named: OpenClaw's system agent, the one marked as default, the first, or `main`. */
export function defaultAgent(config) {
  const agents = agentsOf(config);
  const marked = agents.find(([, entry]) => entry.default === true) ?? agents[0];
  return config?.agents?.defaults?.systemAgent?.agentId || marked?.[0] || MAIN;
}

/** [id, entry] of the agents that the configuration names, in its order: `agents.entries`, or the older `agents.list`. */
export function agentsOf(config) {
  const { entries, list } = config?.agents ?? {};
  if (Array.isArray(list)) return list.filter((entry) => entry?.id).map((entry) => [entry.id, entry]);
  return Object.entries(entries ?? {}).filter(([, entry]) => entry && typeof entry === "object");
}

/**
 * @param {any} api what OpenClaw gives to `register`
 * @param {any} config the configuration that applies now
 * @param {{agentId?: string, sessionKey?: string, workspaceDir?: string}} context
 * @returns {{workspace: string, agent: string}}
 */
export function placeOf(api, config, { agentId, sessionKey, workspaceDir } = {}) {
  const agent = agentId || agentOfSession(sessionKey) || defaultAgent(config);
  return { agent, workspace: workspaceDir || api.runtime.agent.resolveAgentWorkspaceDir(config, agent) };
}

/** Whether the configuration, for this agent or for all, leaves the memory on. */
export function isOn(config, agent) {
  const entry = agentsOf(config).find(([id]) => id.toLowerCase() === agent.toLowerCase())?.[1] ?? {};
  const set = [
    entry.memory?.search?.enabled,
    entry.memorySearch?.enabled,
    config?.memory?.search?.enabled,
    config?.agents?.defaults?.memorySearch?.enabled,
  ].find((value) => value !== undefined);
  return set !== false;
}

/** Whether a session in a sandbox may write to the workspace of its agent. */
export function mayWrite(config, agent, sandboxed) {
  if (!sandboxed) return true;
  const entry = agentsOf(config).find(([id]) => id.toLowerCase() === agent.toLowerCase())?.[1];
  const access = entry?.sandbox?.workspaceAccess ?? config?.agents?.defaults?.sandbox?.workspaceAccess;
  return access === "rw";
}
