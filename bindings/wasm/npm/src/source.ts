import { checkBrowser } from "./environment.js";
import { GemwireError } from "./error.js";
import { checkLoad } from "./names.js";
import { partsOf } from "./parts.js";
import type { OpenParams, WireFile, WireSource } from "./protocol.js";
import type { FileSource, LoadOptions, RequestOptions, Source } from "./types.js";

/** toWire says where a model's bytes are so that a message can hold it. */
export function toWire(source: Source, { mmproj, assistant, request }: LoadOptions = {}): WireSource {
  checkBrowser();
  const parts = toFiles(source, request);
  if (parts.length === 0) throw noSource();
  return {
    parts,
    ...(mmproj !== undefined && { mmproj: toFile(mmproj, request) }),
    ...(assistant !== undefined && { assistant: toFile(assistant, request) }),
  };
}

function toFiles(source: Source, request?: RequestOptions): WireFile[] {
  if (Array.isArray(source)) return inOrder(source as readonly FileSource[]).map((part) => toFile(part, request));
  if (typeof source === "string" || source instanceof URL) return siblings(source).map((url) => remote(url, request));
  if (typeof source === "object" && source && "builtin" in source && source.builtin === "nano") {
    if (source.url === undefined)
      throw new GemwireError("bad-argument", "the built-in model has to be imported", {
        advice: 'Write import { nano } from "gemwire/nano", then Model.load(nano).',
      });
    return [{ ...remote(absolute(source.url), request), whole: "model" }];
  }
  return [toFile(source as FileSource, request)];
}

/** checkContext refuses what is no number of tokens: left out is as usual, 0 is none. */
export function checkContext(context: number | undefined): void {
  if (context !== undefined && !(Number.isSafeInteger(context) && context >= 1))
    throw new GemwireError(
      "bad-argument",
      `context is ${String(context)}; wanted a whole number of tokens, 1 or more`,
      {
        advice: "Leave it out for the usual one.",
      },
    );
}

/** toParams is what Go hears of the options. */
export function toParams(options: LoadOptions): OpenParams {
  checkLoad(options);
  const { device, context, memoryBudget, kvCache, powerPreference, checkKernels = true } = options;
  checkContext(context);
  return {
    ...(!checkKernels && { unchecked: true }),
    ...(context !== undefined && { context }),
    ...(memoryBudget !== undefined && { memoryBudget: Math.floor(memoryBudget) }),
    ...(device !== undefined && { device }),
    ...(kvCache !== undefined && { kvCache }),
    ...(powerPreference !== undefined && { powerPreference }),
  };
}

/** siblings are the addresses of all parts of a model of which one is given. */
export function siblings(source: string | URL): string[] {
  const url = new URL(absolute(source));
  const names = partsOf(url.pathname);
  return names ? names.map((pathname) => Object.assign(new URL(url), { pathname }).href) : [url.href];
}

/**
 * inOrder sorts the parts of a model by their names, where all have one:
 * browsers hand over picked files in any order.
 */
export function inOrder<S extends FileSource>(parts: readonly S[]): S[] {
  const names = parts.map((part) => (part instanceof File ? part.name : ""));
  const whole = partsOf(names[0] ?? "");
  if (!whole || !names.every((name) => whole.includes(name))) return [...parts];
  const nameAt = (part: S) => whole.indexOf((part as File).name);
  return [...parts].sort((a, b) => nameAt(a) - nameAt(b));
}

function toFile(source: FileSource, request?: RequestOptions): WireFile {
  if (typeof source === "string" || source instanceof URL) return remote(absolute(source), request);
  if (source instanceof Blob) return { kind: "blob", blob: source };
  if (source instanceof ArrayBuffer) return { kind: "buffer", buffer: source };
  if (typeof source?.opfs === "string") return { kind: "opfs", name: source.opfs };
  throw noSource();
}

function remote(url: string, request?: RequestOptions): WireFile & { kind: "url" } {
  return { kind: "url", url, ...(request && { request }) };
}

const noSource = () =>
  new GemwireError(
    "bad-argument",
    "a model's source is a File, Blob, ArrayBuffer, URL, {opfs: name}, a list of such parts, or nano of " +
      '"gemwire/nano"',
  );

/** absolute resolves an address against the page's own. */
export function absolute(url: string | URL): string {
  try {
    const made = new URL(url, globalThis.location?.href);
    if (["http:", "https:", "blob:", "data:"].includes(made.protocol)) return made.href;
  } catch {
    // told below
  }
  throw new GemwireError(
    "bad-argument",
    `${JSON.stringify(String(url))} is no address that starts with http:// or https://`,
  );
}
