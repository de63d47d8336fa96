/** What OpenClaw itself (its status, its settings page, other plug-ins) asks of the memory that owns the slot. */

import { classifyPaths, visibleHits } from "./origins.js";
import { isOn, placeOf } from "./place.js";
import { pool } from "./pool.js";

const CORPUS = { memory: "memory", sessions: "sessions" };

/**
 * Managers share the processes of the tools and have nothing of their own to close.
 *
 * @param {any} api
 * @param {any} settings
 */
export function memoryRuntime(api, settings) {
  return {
    supportsWorkspaceMemoryReadSources: true,
    classifyWorkspaceMemoryPaths: classifyPaths,
    authorizeSearchHits: async (parameters) => visibleHits(parameters),
    resolveMemoryBackendConfig: ({ cfg }) => ({ backend: "builtin", citations: cfg?.memory?.citations ?? "auto" }),
    getMemorySearchManager: async ({ cfg, agentId }) => {
      const started = Date.now();
      try {
        if (!isOn(cfg, agentId)) return { manager: null, error: "memory search is switched off" };
        const place = placeOf(api, cfg, { agentId });
        const manager = await searchManager(pool.at(place, settings, api.logger), settings);
        return { manager, debug: { backend: "builtin", managerMs: Date.now() - started } };
      } catch (fault) {
        return { manager: null, error: fault.message };
      }
    },
  };
}

async function searchManager(process, { timeout }) {
  const ask = (method, parameters = {}, signal) => process.request(method, parameters, { timeout, signal });
  // In the words of OpenClaw's own status: provider, files, chunks, dirty, vector …
  let { status } = await ask("status");
  const renew = async () => {
    ({ status } = await ask("status"));
  };
  return {
    search: async (query, { maxResults, minScore, sessionKey, sources, signal } = {}) => {
      const corpus = sources?.length === 1 ? CORPUS[sources[0]] : undefined;
      const found = await ask("memory_search", { query, maxResults, minScore, corpus, sessionKey }, signal);
      if (found.unavailable) throw new Error(found.error);
      return found.results;
    },
    readFile: async ({ relPath, from, lines }) => {
      const read = await ask("memory_get", { path: relPath, from, lines });
      if (read.status === "error") throw new Error(read.error);
      return read;
    },
    status: () => status,
    sync: async () => {
      // Every question brings the index up to date first.
      await ask("memory_recall", { query: "", k: 1 });
      await renew();
    },
    probeEmbeddingAvailability: async () => {
      await renew();
      const { vector, fallback } = status;
      return { ok: vector.available, error: fallback?.reason, checked: true, checkedAtMs: Date.now() };
    },
    probeVectorAvailability: async () => {
      await renew();
      return status.vector.available;
    },
    close: async () => {},
  };
}
