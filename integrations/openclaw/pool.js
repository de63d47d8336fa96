/**
 * The processes of this Node process, one for each workspace and agent.
 *
 * One for each, and not one for all with an agent in every request: an agent can then never be shown what another one
 * knows, whatever a request says; a slow reflection or a crash stops one agent; and which workspace is meant is settled
 * by OpenClaw once, when the process starts. An agent that asks nothing for a while costs no memory.
 */

import { readFileSync } from "node:fs";
import { findCommand } from "./command.js";
import { MemoryProcess } from "./process.js";

/** @typedef {{workspace: string, agent: string}} Place */

export class Pool {
  #processes = new Map();
  /** The service that was started last: OpenClaw may start the next one before it stops this one. */
  owner;

  /**
   * The process of one workspace and agent; it is not started yet.
   *
   * @param {Place} place
   * @param {ReturnType<typeof import("./settings.js").readSettings>} settings of the first that asks
   * @param {{warn?: Function}} [log]
   */
  at({ workspace, agent }, settings, log) {
    const key = JSON.stringify([workspace, agent]);
    let process = this.#processes.get(key);
    if (!process) {
      process = new MemoryProcess(() => findCommand(settings).argv, { workspace, agent, idle: settings.idle, log });
      this.#processes.set(key, process);
    }
    return process;
  }

  /** End those of one agent, or all. Later requests start new ones. */
  async close(agent) {
    const ending = [...this.#processes].filter(([key]) => !agent || JSON.parse(key)[1] === agent);
    for (const [key] of ending) this.#processes.delete(key);
    await Promise.all(ending.map(([, process]) => process.close()));
  }
}

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

/**
 * OpenClaw registers the plug-in several times in one Node process, each time from a copy of its own of these modules; all
 * of one version share these processes.
 *
 * @type {Pool}
 */
export const pool = (globalThis[Symbol.for(`openclaw-memory/${version}`)] ??= new Pool());
