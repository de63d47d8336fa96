/** The section of the system prompt that tells the model when to use the memory. */

/**
 * Lines, none where no tool of the memory is offered.
 *
 * @param {{availableTools: Set<string>, citationsMode?: string}} parameters
 * @returns {string[]}
 */
export function promptSection({ availableTools, citationsMode }) {
  const has = (name) => availableTools.has(name);
  const lines = [];
  const look = ["memory_recall", "memory_search"].filter(has);
  if (look.length) {
    const about = "prior work, decisions, dates, people, preferences, plans or todos";
    lines.push(`Before answering anything about ${about}, run ${look[0]}.`);
  }
  if (has("memory_recall")) {
    lines.push(
      "memory_recall answers a question with cited facts; narrow it with entity, since/until, around, asOf (what held then) " +
        'or kind ("opinion" for preferences). Say when a fact is marked as past, disputed or extracted.',
    );
  }
  if (has("memory_search") && has("memory_recall")) lines.push("memory_search finds passages of text by words and meaning.");
  if (has("memory_get")) lines.push("memory_get reads the lines behind a citation (path#L4); read only those you need.");
  if (has("memory_entity")) lines.push("memory_entity tells what is known about one person, project, place or thing.");
  if (has("memory_opinions")) lines.push("memory_opinions lists opinions with how sure they are by now.");
  if (has("memory_retain")) {
    lines.push(
      "Keep what will matter later with memory_retain, one self-contained fact each: `W @Name: …` for the world, " +
        "`B @Name: …` for what was done, `O(c=0.9) @Name: …` for opinions and preferences, `S @Name: …` for summaries.",
    );
  }
  if (has("core_memory_append")) {
    lines.push("What you must know in every conversation belongs into the core memory (core_memory_append, replace, insert): keep it small.");
  }
  if (!lines.length) return [];
  if (look.length) {
    lines.push(
      "If nothing close is found, say that you looked. Tell the user of any warning, stale or unavailable in a result.",
      citationsMode === "off"
        ? "Do not name file paths or line numbers in replies unless the user asks for them."
        : "Add Source: <path#line> where it helps the user to check.",
    );
  }
  return ["## Memory", ...lines, ""];
}
