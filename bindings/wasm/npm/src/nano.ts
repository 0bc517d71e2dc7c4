import type { Source } from "./types.js";

/**
 * The built-in model, a file of 39 MB: small, knows little, for a first answer without a
 * large download. It answers when the first 32 MB have come; what pictures and sound need
 * is the rest. It has a module of its own, so that an app which never imports it does not
 * ship it.
 */
export const nano = {
  builtin: "nano",
  url: new URL("./nano.gguf", import.meta.url),
} as const satisfies Source;
