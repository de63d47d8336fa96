/**
 * Who may have written a memory file, which OpenClaw asks before it puts MEMORY.md and USER.md into the prompt, and who may
 * see a passage of a conversation.
 */

import { realpath } from "node:fs/promises";
import path from "node:path";

const CORE = new Set(["MEMORY.md", "memory.md", "USER.md"]);
const DREAMS = new Set(["DREAMS.md", "dreams.md"]);

/**
 * "agent" for the memory files of the workspace, "system" for what dreaming wrote, "untrusted" for everything else.
 *
 * @param {{workspaceDir: string, relativePaths: string[],
 *   readSources?: readonly {relativePath: string, canonicalRelativePath?: string}[]}} parameters `readSources`: files that were
 *   read elsewhere, with where they really are there; without, links are followed here.
 */
export async function classifyPaths({ workspaceDir, relativePaths, readSources }) {
  return Promise.all(
    relativePaths.map(async (relativePath) => {
      const real = readSources
        ? canonical(readSources.find((source) => source.relativePath === relativePath)?.canonicalRelativePath)
        : await inside(workspaceDir, relativePath);
      return { relativePath, originClass: real === undefined ? "untrusted" : classOf(real) };
    }),
  );
}

/** A relative path with `/` that stays below its root, or undefined. */
function canonical(relative) {
  if (!relative || relative.includes("\\") || relative.includes("\0")) return undefined;
  if (path.posix.isAbsolute(relative) || path.win32.isAbsolute(relative)) return undefined;
  if (path.posix.normalize(relative) !== relative || relative === "." || relative.split("/")[0] === "..") return undefined;
  return relative;
}

async function inside(workspace, relative) {
  try {
    const [root, file] = await Promise.all([realpath(workspace), realpath(path.resolve(workspace, relative))]);
    return canonical(path.relative(root, file).replaceAll(path.sep, "/"));
  } catch {
    return undefined;
  }
}

function classOf(relative) {
  const parts = relative.split("/");
  if (parts.length === 1 && DREAMS.has(parts[0])) return "system";
  if (parts[0] === "memory" && ["dreaming", ".dreams"].includes(parts[1])) return "system";
  const isCore = parts.length === 1 && CORE.has(parts[0]);
  const isPersonal = /^users\/[a-zA-Z0-9][a-zA-Z0-9_-]{0,127}\/USER\.md$/.test(relative);
  const isLog = ["memory", "bank"].includes(parts[0]) && parts.length > 1 && relative.endsWith(".md");
  return isCore || isPersonal || isLog ? "agent" : "untrusted";
}

/**
 * The hits that a session may see. Memory files: all. Passages of conversations: only of the same agent, never in a sandbox,
 * and by `tools.sessions.visibility`: with "agent" or "all" every session of the agent sees them, with "tree" (the default)
 * its main session; with "self" nobody, since a passage does not tell its session's key.
 *
 * @param {{cfg: any, agentId: string, requesterSessionKey?: string, sandboxed: boolean, hits: any[]}} parameters
 */
export function visibleHits({ cfg, agentId, requesterSessionKey, sandboxed, hits }) {
  const visibility = cfg?.tools?.sessions?.visibility ?? "tree";
  const main = `agent:${agentId}:${cfg?.session?.mainKey || "main"}`.toLowerCase();
  const requester = (requesterSessionKey ?? "").toLowerCase();
  const isOwn = requester.startsWith(`agent:${agentId}:`.toLowerCase());
  const seesAll = ["agent", "all"].includes(visibility) || (visibility === "tree" && requester === main);
  return hits.filter((hit) => hit.source !== "sessions" || (!sandboxed && isOwn && seesAll));
}
