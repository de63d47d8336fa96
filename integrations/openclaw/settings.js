/**
 * What `plugins.entries.openclaw-memory.config` says, with defaults. OpenClaw has checked it against the manifest's
 * schema already; what else it holds (`dreaming`) belongs to OpenClaw's own settings pages and is left alone.
 */

/** The id of this plug-in, in the manifest, in `plugins.slots.memory` and in `plugins.entries`. */
export const ID = "openclaw-memory";

const seconds = (value, otherwise) => 1000 * (value ?? otherwise);

/**
 * Times are milliseconds here and seconds in the configuration.
 *
 * @param {Record<string, any>} [config]
 * @param {string} [folder] where the plug-in is installed. OpenClaw runs a copy of it, so a module's own path does not tell.
 */
export function readSettings(config = {}, folder = undefined) {
  const recall = config.recallInjection ?? {};
  return {
    command: config.command,
    folder,
    timeout: seconds(config.timeoutSeconds, 30),
    reflectTimeout: seconds(config.reflectTimeoutSeconds, 900),
    idle: seconds(config.idleSeconds, 1800),
    recallInjection: {
      enabled: recall.enabled === true,
      budget: recall.budget ?? 600,
      timeout: seconds(recall.timeoutSeconds, 4),
    },
  };
}
