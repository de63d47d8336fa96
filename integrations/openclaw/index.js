/**
 * OpenClaw's plug-in: the workspace's Markdown as the memory of its agents. All work is done by the `openclaw-memory` command; this
 * hands over.
 *
 * `register` runs several times in one Node process (to list commands, to list tools, for the gateway), so it does nothing but
 * register: a process is started by the first request, or by the gateway's service.
 */

import { COMMAND, registerCommand } from "./cli.js";
import { flushPlan } from "./flush.js";
import { registerInjection } from "./injection.js";
import { memoryRuntime } from "./manager.js";
import { promptSection } from "./prompt.js";
import { service } from "./service.js";
import { ID, readSettings } from "./settings.js";
import { registerTools } from "./tools.js";

export default {
  id: ID,
  name: "OpenClaw Memory (Retain, Recall, Reflect)",
  description: "Offline-first memory over the workspace's Markdown, with citations",
  register(api) {
    const settings = readSettings(api.pluginConfig, api.rootDir);
    api.registerCli((context) => registerCommand(api, settings, context), { descriptors: [COMMAND] });
    if (api.registrationMode === "cli-metadata") return;
    api.registerMemoryCapability({
      deterministicRecallToolName: "memory_search",
      promptBuilder: promptSection,
      flushPlanResolver: flushPlan,
      runtime: memoryRuntime(api, settings),
    });
    registerTools(api, settings);
    registerInjection(api, settings);
    api.registerService(service(api, settings));
  },
};
