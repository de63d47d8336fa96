/**
 * Where the `openclaw-memory` command is. It is never `openclaw`: the Python package installs a command of that name too,
 * which hands everything but `memory` to the real one, and the real one hands `memory` to this plug-in.
 */

import { spawnSync } from "node:child_process";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import path from "node:path";

const NAME = "openclaw-memory";
/** Set for every process that is started from here, so that one which comes back is seen. */
export const MARK = "OPENCLAW_MEMORY_PLUGIN";
const REMEDY =
  "install it with `pip install openclaw-memory`, or set plugins.entries.openclaw-memory.config.command to its path";

/** A command that cannot be found or may not be used; the message is one line with the remedy. */
export class CommandFault extends Error {}

/**
 * The command as an argument vector, and in a few words where it was found.
 *
 * Order: `command` of the settings (a path, or a list of words), `OPENCLAW_MEMORY_COMMAND` (the same; a list is written as JSON), the
 * Python environment that this plug-in is installed in, PATH, `python3 -m openclaw_memory`.
 *
 * @param {{command?: string | string[], folder?: string}} settings
 * @returns {{argv: string[], source: string}}
 */
export function findCommand({ command: configured, folder } = {}, environ = process.env) {
  if (configured !== undefined) return given(configured, "plugins.entries.openclaw-memory.config.command", environ);
  const named = environ.OPENCLAW_MEMORY_COMMAND?.trim();
  if (named) return given(words(named), "OPENCLAW_MEMORY_COMMAND", environ);
  const beside = folder && besides(folder);
  if (beside) return { argv: [beside], source: "the Python environment of the plug-in" };
  const found = onPath(NAME, environ);
  if (found) return { argv: [found], source: "PATH" };
  const python = onPath(process.platform === "win32" ? "python" : "python3", environ);
  if (python && hasModule(python, environ)) return { argv: [python, "-m", "openclaw_memory"], source: "python3 -m" };
  throw new CommandFault(`the command openclaw-memory was not found; ${REMEDY}`);
}

function words(text) {
  if (!text.startsWith("[")) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFault(`OPENCLAW_MEMORY_COMMAND is no list in JSON: ${text}`);
  }
}

function given(command, source, environ) {
  const argv = typeof command === "string" ? [command] : command;
  if (!Array.isArray(argv) || !argv.length || !argv.every((word) => typeof word === "string" && word)) {
    throw new CommandFault(`${source}: expected a path or a list of words`);
  }
  const program = /[\\/]/.test(argv[0]) ? expand(argv[0], environ) : onPath(argv[0], environ);
  if (!program || !isProgram(program)) throw new CommandFault(`${source}: no such program: ${argv[0]}; ${REMEDY}`);
  if (/^openclaw(\.(cmd|exe|mjs))?$/i.test(path.basename(program))) {
    throw new CommandFault(`${source}: ${argv[0]} would call this plug-in again; name openclaw-memory instead`);
  }
  return { argv: [program, ...argv.slice(1)], source };
}

const expand = (file, environ) =>
  file.replace(/^~(?=[\\/])/, environ.HOME || environ.USERPROFILE || "~");

/** The console script of the environment whose site-packages hold this folder. */
function besides(folder) {
  let real;
  try {
    real = realpathSync(folder);
  } catch {
    return undefined;
  }
  const parts = real.split(path.sep);
  const packages = parts.findLastIndex((part) => part === "site-packages" || part === "dist-packages");
  if (packages < 1) return undefined;
  // lib/python3.12/site-packages, or Lib\site-packages on Windows.
  for (const up of [2, 1]) {
    const root = parts.slice(0, packages - up).join(path.sep) || path.sep;
    for (const file of [path.join(root, "bin", NAME), path.join(root, "Scripts", `${NAME}.exe`)]) {
      if (isProgram(file)) return file;
    }
  }
  return undefined;
}

function onPath(name, environ) {
  const endings = process.platform === "win32" ? [".exe", ".cmd", ""] : [""];
  for (const folder of (environ.PATH ?? environ.Path ?? "").split(path.delimiter).filter(Boolean)) {
    for (const ending of endings) {
      const file = path.join(folder, name + ending);
      if (isProgram(file)) return file;
    }
  }
  return undefined;
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function hasModule(python, environ) {
  const code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('openclaw_memory') is None)";
  return spawnSync(python, ["-c", code], { env: environ, timeout: 10_000, stdio: "ignore" }).status === 0;
}
