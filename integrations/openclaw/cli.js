/** `openclaw memory …` of the real OpenClaw: the whole command line goes to `openclaw-memory`, word for word. */

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { CommandFault, findCommand, MARK } from "./command.js";
import { agentsOf, defaultAgent, placeOf } from "./place.js";

export const COMMAND = {
  name: "memory",
  description: "Retain, recall and reflect: the memory in the workspace's Markdown",
  hasSubcommands: true,
};
/** OpenClaw's own options, which may stand anywhere on its command line. */
const FLAGS = new Set(["--dev", "--no-color"]);
const VALUES = new Set(["--profile", "--log-level", "--container"]);

/**
 * The words behind `memory`, without OpenClaw's own options; undefined where `memory` is not what was called.
 *
 * @param {string[]} argv as in `process.argv`
 */
export function wordsBehind(argv) {
  const words = [];
  let behind = false;
  let literal = false;
  for (let at = 2; at < argv.length; at += 1) {
    const word = argv[at];
    if (!literal && (FLAGS.has(word) || [...VALUES].some((name) => word.startsWith(`${name}=`)))) continue;
    if (!literal && VALUES.has(word)) {
      at += 1;
    } else if (behind) {
      literal ||= word === "--";
      words.push(word);
    } else if (word === COMMAND.name) {
      behind = true;
    } else if (word !== "--") {
      return undefined;
    }
  }
  return behind ? words : undefined;
}

/**
 * Environment of the command: OpenClaw says which workspace an agent has, unless the caller has said so.
 *
 * @param {any} api
 * @param {any} config
 * @param {string[]} words
 */
export function environment(api, config, words, environ = process.env) {
  const given = { ...environ, [MARK]: "1" };
  if (environ.OPENCLAW_WORKSPACE?.trim() || words.some((word) => /^--workspace(=|$)/.test(word))) return given;
  const at = words.findIndex((word) => /^--agent(=|$)/.test(word));
  const named = at < 0 ? undefined : words[at].includes("=") ? words[at].slice("--agent=".length) : words[at + 1];
  // These two are about every agent where none is named.
  if (!named && ["status", "index"].includes(words[0]) && agentsOf(config).length > 1) return given;
  try {
    given.OPENCLAW_WORKSPACE = placeOf(api, config, { agentId: named || defaultAgent(config) }).workspace;
  } catch {
    // Which one is meant is then read from the configuration by the command itself.
  }
  return given;
}

/**
 * Run it on this process's own streams.
 *
 * @param {string[]} argv program and words
 * @returns {Promise<number>} its exit code, 128 + n where signal n ended it
 */
export function run(argv, environ) {
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0], argv.slice(1), { stdio: "inherit", env: environ });
    // A terminal sends Ctrl-C to both; the other one says what becomes of it.
    const stay = () => {};
    const pass = (signal) => child.kill(signal);
    process.on("SIGINT", stay).on("SIGTERM", pass).on("SIGHUP", pass);
    const done = () => process.off("SIGINT", stay).off("SIGTERM", pass).off("SIGHUP", pass);
    child.on("error", (fault) => {
      done();
      reject(new CommandFault(`${argv[0]} cannot be run: ${fault.message}`));
    });
    child.on("close", (code, signal) => {
      done();
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/**
 * Register the command with Commander.
 *
 * @param {any} api
 * @param {any} settings
 * @param {{program: any, config: any}} context
 */
export function registerCommand(api, settings, { program, config }) {
  program
    .command(COMMAND.name)
    .description(COMMAND.description)
    .argument("[words...]")
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false)
    .action(async (_words, _options, command) => {
      const words = wordsBehind(process.argv) ?? command.args;
      try {
        if (process.env[MARK]) throw new CommandFault("the memory command leads back to itself; name openclaw-memory, not openclaw");
        const { argv } = findCommand(settings);
        process.exitCode = await run([...argv, ...words], environment(api, config, words));
      } catch (fault) {
        if (!(fault instanceof CommandFault)) throw fault;
        process.stderr.write(`openclaw memory: ${fault.message}\n`);
        process.exitCode = 1;
      }
    });
}
