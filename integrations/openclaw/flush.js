/**
 * The turn before a compaction, in which the model writes down what would be lost: when it is due and what it is told.
 *
 * Numbers, the file and the rules about it are those of OpenClaw's own memory; what is written is facts under `## Retain`.
 */

const SOFT_TOKENS = 4_000;
const RESERVE_TOKENS = 20_000;
/** Of the context window, that compaction may reserve. */
const MOST_RESERVED = 0.25;
const TRANSCRIPT_BYTES = 2 * 1024 * 1024;
const SILENT = "NO_REPLY";
const UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

const TARGET = "Store durable memories only in memory/YYYY-MM-DD.md (create memory/ if needed).";
const READ_ONLY =
  "Treat workspace bootstrap/reference files such as MEMORY.md, DREAMS.md, SOUL.md, and AGENTS.md, and everything in bank/, " +
  "as read-only during this flush; never overwrite, replace, or edit them.";
const APPEND = "If memory/YYYY-MM-DD.md already exists, APPEND new content only and do not overwrite existing entries.";
const FORM =
  "Write what happened as plain notes, and what will matter later as a list under a heading `## Retain`, one self-contained " +
  "fact a line with full names and absolute dates: `- W @Name: fact about the world`, `- B @Name: what was done`, " +
  "`- O(c=0.9) @Name: opinion or preference`, `- S @Name: summary`.";
const PROMPT = [
  "Pre-compaction memory flush.",
  TARGET,
  READ_ONLY,
  APPEND,
  FORM,
  "Do NOT create timestamped variant files (e.g., YYYY-MM-DD-HHMM.md); always use the canonical YYYY-MM-DD.md filename.",
  `If nothing to store, reply with ${SILENT}.`,
].join(" ");
const SYSTEM_PROMPT = [
  "Pre-compaction memory flush turn.",
  "The session is near auto-compaction; capture durable memories to disk.",
  TARGET,
  READ_ONLY,
  APPEND,
  `You may reply, but usually ${SILENT} is correct.`,
].join(" ");

/**
 * The plan, or null where the configuration switches it off.
 *
 * @param {{cfg?: any, nowMs?: number, contextWindowTokens?: number}} [parameters]
 */
export function flushPlan({ cfg, nowMs = Date.now(), contextWindowTokens } = {}) {
  const set = cfg?.agents?.defaults?.compaction?.memoryFlush ?? {};
  if (set.enabled === false) return null;
  const window = whole(contextWindowTokens);
  let reserveTokensFloor = whole(cfg?.agents?.defaults?.compaction?.reserveTokensFloor) ?? RESERVE_TOKENS;
  let softThresholdTokens = whole(set.softThresholdTokens) ?? SOFT_TOKENS;
  if (window) {
    reserveTokensFloor = Math.min(reserveTokensFloor, Math.floor(window * MOST_RESERVED));
    softThresholdTokens = Math.min(softThresholdTokens, Math.floor((window - reserveTokensFloor) / 2));
  }
  const zone = zoneOf(cfg?.agents?.defaults?.userTimezone);
  const day = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" }).format(nowMs);
  const time = new Intl.DateTimeFormat("en-GB", { timeZone: zone, dateStyle: "full", timeStyle: "short" }).format(nowMs);
  const filled = (text) => {
    const said = text.replaceAll("YYYY-MM-DD", day);
    return said.includes(SILENT) ? said : `${said}\n\nIf no user-visible reply is needed, start with ${SILENT}.`;
  };
  return {
    softThresholdTokens,
    forceFlushTranscriptBytes: bytes(set.forceFlushTranscriptBytes) ?? TRANSCRIPT_BYTES,
    reserveTokensFloor,
    model: set.model?.trim() || undefined,
    prompt: set.prompt?.trim() ? filled(set.prompt.trim()) : `${filled(PROMPT)}\nCurrent time: ${time} (${zone})`,
    systemPrompt: filled(set.systemPrompt?.trim() || SYSTEM_PROMPT),
    relativePath: `memory/${day}.md`,
  };
}

/** A whole number from 0, or undefined. */
const whole = (value) => (typeof value === "number" && value >= 0 && Number.isFinite(value) ? Math.floor(value) : undefined);

/** Bytes of `2mb` or a number; undefined for what is neither. */
function bytes(value) {
  if (typeof value === "number") return whole(value);
  const [, number, unit] = /^\s*(\d+(?:\.\d+)?)\s*([kmg]?b)?\s*$/i.exec(value ?? "") ?? [];
  return number === undefined ? undefined : Math.floor(Number(number) * UNITS[(unit ?? "b").toLowerCase()]);
}

/** The zone that is set, where there is one of that name, else the machine's. */
function zoneOf(name) {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name?.trim() || undefined }).resolvedOptions().timeZone;
  } catch {
    return new Intl.DateTimeFormat("en").resolvedOptions().timeZone;
  }
}
