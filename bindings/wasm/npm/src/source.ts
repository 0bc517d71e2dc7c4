import { GemwireError } from "./error.js";
import type { RequestOptions, WireSource } from "./protocol.js";
import type { Source } from "./types.js";

/** toWire says where a model's bytes are so that a message can hold it. */
export function toWire(source: Source, request?: RequestOptions): WireSource {
  const remote = (url: string | URL, whole = false): WireSource => ({
    kind: "url", url: absolute(url), ...(whole && { whole }), ...(request && { request }),
  });
  if (typeof source === "string" || source instanceof URL) return remote(source);
  if (source instanceof Blob) return { kind: "blob", blob: source };
  if (source instanceof ArrayBuffer) return { kind: "buffer", buffer: source };
  if (source && "opfs" in source) return { kind: "opfs", name: source.opfs };
  if (source && source.builtin === "nano") return remote(source.url ?? new URL("./nano.gguf", import.meta.url), true);
  throw new GemwireError("bad-argument", "a model's source is a File, Blob, ArrayBuffer, URL, {opfs: name} or {builtin: \"nano\"}");
}

/** absolute resolves an address against the page's own. */
export function absolute(url: string | URL): string {
  try {
    const made = new URL(url, globalThis.location?.href);
    if (["http:", "https:", "blob:", "data:"].includes(made.protocol)) return made.href;
  } catch {
    // told below
  }
  throw new GemwireError("bad-argument", `${JSON.stringify(String(url))} is no address that starts with http:// or https://`);
}
