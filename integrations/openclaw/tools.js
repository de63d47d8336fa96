/** The tools that the model sees, each answered by the method of the same name of the memory process. */

import { CommandFault } from "./command.js";
import { visibleHits } from "./origins.js";
import { chatTypeOf, isOn, mayWrite, placeOf } from "./place.js";
import { pool } from "./pool.js";
import { MemoryFault, Unavailable } from "./process.js";
import { TOOLS } from "./tool-table.js";

const ACTION = "Tell the user that the memory cannot be read; `openclaw memory doctor` says why.";

/**
 * Register every tool; each is offered where the memory is on, and those that write where the session may write.
 *
 * @param {any} api
 * @param {any} settings
 */
export function registerTools(api, settings) {
  for (const tool of TOOLS) {
    api.registerTool((context) => toolFor(tool, api, settings, context), { names: [tool.name] });
  }
}

function toolFor(tool, api, settings, context) {
  const config = context.getRuntimeConfig?.() ?? context.runtimeConfig ?? context.config ?? api.config;
  const place = placeOf(api, config, context);
  if (!isOn(config, place.agent)) return null;
  if (!tool.readOnly && !mayWrite(config, place.agent, context.sandboxed)) return null;
  const timeout = tool.name === "memory_reflect" ? settings.reflectTimeout : settings.timeout;
  return {
    name: tool.name,
    label: tool.title,
    description: tool.description,
    parameters: tool.parameters,
    // Without it OpenClaw keeps the tool in a catalog that the model has to search first.
    catalogMode: "direct-only",
    getExecutionTimeoutMs: () => timeout + 5_000,
    execute: async (_id, given, signal) => {
      const session = { sessionKey: context.sessionKey, agentId: place.agent, chatType: chatTypeOf(context.sessionKey) };
      try {
        const result = await pool
          .at(place, settings, api.logger)
          .request(tool.name, { ...given, ...session }, { timeout, signal });
        if (tool.name !== "memory_search" || !Array.isArray(result.results)) return answer(result);
        const { sandboxed = false, sessionKey: requesterSessionKey } = context;
        const about = { cfg: config, agentId: place.agent, requesterSessionKey, sandboxed };
        return answer({ ...result, results: visibleHits({ ...about, hits: result.results }) });
      } catch (fault) {
        return answer(refusal(tool.name, given, fault));
      }
    },
  };
}

const answer = (details) => ({ content: [{ type: "text", text: JSON.stringify(details) }], details });

/** What the model is told where there is no answer; throws what is no fault of the memory. */
function refusal(name, given, fault) {
  const missing = fault instanceof Unavailable || fault instanceof CommandFault;
  if (!missing && !(fault instanceof MemoryFault)) throw fault;
  const error = fault.message;
  if (name === "memory_get") return { path: given?.path ?? "", text: "", status: "error", code: "MEMORY_READ_FAILED", error };
  if (!missing) return { error };
  if (name === "memory_search") {
    return { results: [], disabled: true, unavailable: true, error, warning: "The memory was not searched.", action: ACTION };
  }
  return { unavailable: true, error, action: ACTION };
}
