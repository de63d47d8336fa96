/** What OpenClaw itself (its status, its settings page, other plug-ins) asks of the memory that owns the slot. */

import { classifyPaths, visibleHits } from "./origins.js";
import { isOn, placeOf } from "./place.js";
import { pool } from "./pool.js";

const CORPUS = { memory: "memory", sessions: "sessions" };

/**
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
    closeMemorySearchManager: async ({ agentId }) => pool.close(agentId),
    closeAllMemorySearchManagers: async () => pool.close(),
  };
}

async function searchManager(process, { timeout }) {
  const ask = (method, parameters = {}, signal) => process.request(method, parameters, { timeout, signal });
  let status = await ask("status");
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
    status: () => providerStatus(status),
    sync: async () => {
      // Every question brings the index up to date first.
      await ask("memory_recall", { query: "", k: 1 });
      status = await ask("status");
    },
    probeEmbeddingAvailability: async () => {
      status = await ask("status");
      const { ok, error } = meaning(status);
      return { ok, error, checked: true, checkedAtMs: Date.now() };
    },
    probeVectorAvailability: async () => {
      status = await ask("status");
      return meaning(status).ok;
    },
    close: async () => {},
  };
}

/** Whether a model compares by meaning now, and what is wrong with those that were configured. */
function meaning({ embeddings }) {
  const warnings = embeddings?.warnings ?? [];
  return { ok: Boolean(embeddings?.model), error: warnings.length ? warnings.join("; ") : undefined };
}

/** The status of the memory, in the words of OpenClaw's status page. */
export function providerStatus(status) {
  const { index, embeddings } = status;
  return {
    backend: "builtin",
    provider: status.provider,
    model: embeddings?.model ?? undefined,
    files: index.files ?? 0,
    chunks: index.chunks ?? 0,
    dirty: index.stale,
    workspaceDir: status.workspace,
    dbPath: index.path,
    sources: ["memory"],
    fts: { enabled: true, available: status.sqlite?.fts5 ?? true },
    fallback: embeddings?.fallbackFrom ? { from: embeddings.fallbackFrom, reason: embeddings.reason } : undefined,
    vector: { enabled: meaning(status).ok, available: meaning(status).ok },
    custom: { warnings: embeddings?.warnings ?? [] },
  };
}
