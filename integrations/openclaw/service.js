/** The gateway's part: the process of the default agent runs as long as the gateway does, the others' while they are used. */

import { defaultAgent, isOn, placeOf } from "./place.js";
import { pool } from "./pool.js";
import { ID } from "./settings.js";

/**
 * @param {any} api
 * @param {any} settings
 */
export function service(api, settings) {
  const own = Symbol(ID);
  return {
    id: ID,
    reload: { configPrefixes: [`plugins.entries.${ID}`, "memory", "agents"] },
    start: async ({ config, logger }) => {
      pool.owner = own;
      // What runs was started by other settings.
      await pool.close();
      const agent = defaultAgent(config);
      // Not waited for: the gateway starts without it, and a fault is told in its log.
      if (isOn(config, agent)) void pool.at(placeOf(api, config, { agentId: agent }), settings, logger).keep();
    },
    stop: async () => {
      if (pool.owner === own) await pool.close();
    },
  };
}
