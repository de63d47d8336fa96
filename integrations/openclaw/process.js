/**
 * One `openclaw-memory serve` process for one workspace and agent: JSON-RPC 2.0, one object a line, over its standard
 * streams.
 *
 * It is started by the first request and again after it has ended, at once after a good run and then less and less often.
 * While nothing is asked of it, it does not keep Node alive; it ends by itself when Node does, since its input ends.
 */

import { spawn } from "node:child_process";
import { MARK } from "./command.js";
import { eachLine } from "./lines.js";
import { READS } from "./tool-table.js";

/** How long a process may take until it says that it is ready, in milliseconds. */
const STARTUP = 60_000;
/** Waits between starts that failed: 0.5 s, 1 s, 2 s … at most a minute. */
const FIRST_WAIT = 500;
const LONGEST_WAIT = 60_000;
/** A run of this length counts as good. */
const GOOD_RUN = 10_000;
/** How long a process may take to end by itself, and then after SIGTERM. */
const GRACE = 2_000;
/** A process that owes an answer and says nothing for so long hangs. Less than that may be a first indexing. */
const STUCK = 300_000;

/** A fault that the memory tells: a bad argument, a broken file. `code` and `data` are those of JSON-RPC. */
export class MemoryFault extends Error {
  constructor(message, code, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The process is not there, does not answer in time, or ended while working. */
export class Unavailable extends Error {}

export class MemoryProcess {
  #argv;
  #options;
  #child;
  #ready;
  #pending = new Map();
  #lastId = 0;
  #failures = 0;
  #notBefore = 0;
  #lastFault = "";
  #stderr = [];
  #idle;
  #restart;
  /** Since when an answer is owed and nothing has been heard; 0 where none is owed. */
  #silentSince = 0;
  #closed = false;
  #kept = false;

  /**
   * @param {() => string[]} command gives the words before `serve`; throws where there is no command.
   * @param {{workspace: string, agent: string, idle?: number, stuck?: number, environ?: NodeJS.ProcessEnv,
   *   log?: {warn?: Function}}} options `idle`: milliseconds without a request after which it ends, 0 for never.
   */
  constructor(command, options) {
    this.#argv = command;
    this.#options = options;
  }

  get pid() {
    return this.#child?.pid;
  }

  /** What the process said of itself when it was ready: {version, workspace, agent}. Starts it. */
  start() {
    if (this.#closed) return Promise.reject(new Unavailable("the memory was shut down"));
    if (!this.#ready) {
      const wait = this.#notBefore - Date.now();
      if (wait > 0) {
        const next = `trying again in ${Math.ceil(wait / 1000)} s`;
        return Promise.reject(new Unavailable(`the memory process does not start: ${this.#lastFault}; ${next}`));
      }
      this.#ready = this.#spawn();
    }
    return this.#ready;
  }

  /** Start it now, and again whenever it has ended, without waiting for a request. */
  async keep() {
    this.#kept = true;
    try {
      await this.start();
    } catch (fault) {
      this.#options.log?.warn?.(fault.message);
    }
  }

  /**
   * The result of one request. Rejects with `MemoryFault`, `Unavailable`, or the reason of `signal`.
   *
   * @param {string} method
   * @param {Record<string, any>} params those that are undefined are left out.
   * @param {{timeout: number, signal?: AbortSignal}} limits
   */
  async request(method, params, { timeout, signal }) {
    const until = Date.now() + timeout;
    for (let attempt = 0; ; attempt += 1) {
      try {
        await within(this.start(), until - Date.now(), signal);
        return await this.#send(method, params, until, signal);
      } catch (fault) {
        if (attempt || !fault.ended || !READS.has(method)) throw fault;
      }
    }
  }

  /** End the process; what is pending is rejected. Resolves when it is gone. */
  async close() {
    this.#closed = true;
    clearTimeout(this.#restart);
    await this.#end();
  }

  #spawn() {
    return new Promise((resolve, reject) => {
      let child;
      const started = Date.now();
      this.#stderr = [];
      this.#silentSince = 0;
      try {
        const [program, ...before] = this.#argv();
        const words = [...before, "serve", "--workspace", this.#options.workspace, "--agent", this.#options.agent];
        child = spawn(program, words, {
          env: { ...(this.#options.environ ?? process.env), [MARK]: "1" },
          stdio: ["pipe", "pipe", "pipe"],
          windowsHide: true,
        });
      } catch (fault) {
        this.#failed(fault.message, 0);
        reject(new Unavailable(fault.message));
        return;
      }
      this.#child = child;
      const slow = setTimeout(() => child.kill("SIGKILL"), STARTUP);
      const gone = (what) => {
        clearTimeout(slow);
        const fault = this.#stderr.at(-1) || what;
        reject(new Unavailable(`the memory process does not start: ${fault}`));
        if (this.#child !== child) return;
        this.#failed(fault, Date.now() - started);
        for (const { reject: refuse } of this.#pending.values()) {
          refuse(Object.assign(new Unavailable(`the memory process has ended while working: ${fault}`), { ended: true }));
        }
        this.#pending.clear();
      };
      child.on("error", (fault) => gone(fault.message));
      child.on("close", (code, signal) => gone(signal ? `ended by ${signal}` : `ended with exit code ${code}`));
      child.stdin.on("error", () => {});
      eachLine(child.stderr, (line) => {
        if (!line.trim()) return;
        this.#stderr = [...this.#stderr.slice(-19), line.trim()];
        this.#options.log?.warn?.(line.trim());
      });
      eachLine(child.stdout, (line) => {
        let message;
        try {
          message = JSON.parse(line);
        } catch {
          this.#options.log?.warn?.(`not a message: ${line.slice(0, 200)}`);
          return;
        }
        if (message.method === "ready") {
          clearTimeout(slow);
          resolve(message.params);
          this.#rest();
        } else if (this.#pending.has(message.id)) {
          const { resolve: answer, reject: refuse } = this.#pending.get(message.id);
          this.#failures = 0;
          if (message.error) refuse(new MemoryFault(message.error.message, message.error.code, message.error.data));
          else answer(message.result);
        }
        this.#silentSince = this.#pending.size ? Date.now() : 0;
      });
      this.#hold(true);
    });
  }

  #failed(fault, lived) {
    this.#child = undefined;
    this.#ready = undefined;
    this.#lastFault = fault;
    clearTimeout(this.#idle);
    if (lived >= GOOD_RUN) this.#failures = 0;
    const wait = this.#failures ? Math.min(FIRST_WAIT * 2 ** (this.#failures - 1), LONGEST_WAIT) : 0;
    this.#failures += 1;
    this.#notBefore = Date.now() + wait;
    if (this.#closed || !this.#kept) return;
    this.#options.log?.warn?.(`the memory process is gone (${fault}); it is started again`);
    this.#restart = setTimeout(() => this.keep(), wait + 50);
    this.#restart.unref();
  }

  #send(method, params, until, signal) {
    return new Promise((resolve, reject) => {
      const child = this.#child;
      if (!child) {
        reject(Object.assign(new Unavailable("the memory process has ended"), { ended: true }));
        return;
      }
      const id = ++this.#lastId;
      const settle = (finish) => (value) => {
        this.#pending.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        this.#rest();
        finish(value);
      };
      const abort = () => this.#pending.get(id)?.reject(signal.reason ?? new Error("aborted"));
      const sent = Date.now();
      this.#silentSince ||= sent;
      const timer = setTimeout(() => {
        const limit = Math.round((until - sent) / 100) / 10;
        this.#pending.get(id)?.reject(new Unavailable(`the memory did not answer ${method} within ${limit} s`));
        const silent = Date.now() - this.#silentSince;
        if (!this.#pending.size && this.#child === child && silent >= (this.#options.stuck ?? STUCK)) void this.#end();
      }, Math.max(until - sent, 0));
      this.#pending.set(id, { resolve: settle(resolve), reject: settle(reject) });
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted) {
        abort();
        return;
      }
      clearTimeout(this.#idle);
      this.#hold(true);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  /** Nothing is pending: Node may end, and after a while the process too. */
  #rest() {
    if (this.#pending.size || !this.#child) return;
    this.#hold(false);
    clearTimeout(this.#idle);
    if (!this.#options.idle || this.#kept) return;
    this.#idle = setTimeout(() => void this.#end(), this.#options.idle);
    this.#idle.unref();
  }

  #hold(held) {
    const child = this.#child;
    for (const part of [child, child?.stdin, child?.stdout, child?.stderr]) held ? part?.ref?.() : part?.unref?.();
  }

  async #end() {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    this.#ready = undefined;
    clearTimeout(this.#idle);
    const closed = new Promise((resolve) => child.once("close", resolve));
    for (const { reject } of [...this.#pending.values()]) reject(new Unavailable("the memory was shut down"));
    child.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", method: "shutdown" })}\n`);
    for (const signal of ["SIGTERM", "SIGKILL"]) {
      if (await passed(closed, GRACE)) return;
      child.kill(signal);
    }
    await closed;
  }
}

/** Whether `promise` is settled within so many milliseconds. */
function passed(promise, milliseconds) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  return Promise.race([promise.then(() => true), late]).finally(() => clearTimeout(timer));
}

/** `promise`, but no longer than that. */
function within(promise, milliseconds, signal) {
  if (signal?.aborted) return Promise.reject(signal.reason);
  let timer;
  let abort;
  const late = new Promise((_, reject) => {
    abort = () => reject(signal.reason);
    signal?.addEventListener("abort", abort, { once: true });
    timer = setTimeout(() => reject(new Unavailable("the memory process did not start in time")), Math.max(milliseconds, 0));
  });
  return Promise.race([promise, late]).finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  });
}
