/** The tools of the memory: `tools.json` is the memory process's own table (`make plugin-tools` writes it, a test compares). */

import { readFileSync } from "node:fs";

/**
 * @type {{name: string, title: string, description: string, parameters: object, readOnly: boolean, destructive: boolean,
 *   idempotent: boolean}[]}
 */
export const TOOLS = JSON.parse(readFileSync(new URL("tools.json", import.meta.url), "utf8"));

/** Methods that change nothing, so that they may be sent again. */
export const READS = new Set([
  ...TOOLS.filter((tool) => tool.readOnly).map((tool) => tool.name),
  "status",
  "context",
  "flush_check",
]);
