import { GemwireError } from "./error.js";
import type { WireFile, WireSource, WrittenFile } from "./protocol.js";
import { absolute } from "./source.js";
import { call } from "./store.js";
import type { AdapterFormat, AdapterOptions, AdapterSource, RequestOptions, StoredAdapter } from "./types.js";

// PEFT's two files.
const configName = "adapter_config.json",
  weightsName = "adapter_model.safetensors";

/** The LoRA adapters that are kept in the browser's storage (OPFS). */
export const adapters = {
  list(): Promise<StoredAdapter[]> {
    return call("adapterList", {});
  },

  /** Reads and checks an adapter, and keeps it, in place of one that has its name. */
  import(
    source: AdapterSource,
    { name = nameOf(source), signal, request }: AdapterOptions = {},
  ): Promise<StoredAdapter> {
    return call("adapterImport", { name }, { source: toWireAdapter(source, request), signal });
  },

  /** The adapter's files: PEFT's two, or llama.cpp's one, which is called after it. */
  async export(name: string, { format = "peft" }: { format?: AdapterFormat } = {}): Promise<File[]> {
    return toFiles((await call("adapterExport", { name, format })).files);
  },

  rename(from: string, to: string): Promise<StoredAdapter> {
    return call("adapterRename", { from, to });
  },

  async delete(name: string): Promise<void> {
    await call("adapterDelete", { name });
  },
};

/** @internal toFiles gives what the worker has written its names. */
export const toFiles = (files: WrittenFile[]): File[] => files.map(({ name, blob }) => new File([blob], name));

/** @internal toWireAdapter says where an adapter's files are so that a message can hold it. */
export function toWireAdapter(source: AdapterSource, request?: RequestOptions): WireSource {
  const remote = (url: string): WireFile => ({ kind: "url", url, whole: "adapter", ...(request && { request }) });
  if (source instanceof Blob) return { parts: [{ kind: "blob", blob: source }] };
  if (typeof source === "string" || source instanceof URL) return { parts: addressesOf(absolute(source)).map(remote) };
  if (Array.isArray(source) && source.length > 0 && source.every((file) => file instanceof Blob)) {
    return { parts: chosen(source as Blob[]).map((blob) => ({ kind: "blob", blob })) };
  }
  if (typeof (source as { opfs?: unknown })?.opfs === "string")
    return { parts: [{ kind: "adapter", name: (source as { opfs: string }).opfs }] };
  throw new GemwireError("bad-argument", "an adapter's source is a Blob, PEFT's two files, a URL, or {opfs: name}");
}

// addressesOf are those of both files, where the address is a folder's or one of PEFT's.
function addressesOf(href: string): string[] {
  const { pathname } = new URL(href);
  if (!pathname.endsWith("/") && !pathname.endsWith(weightsName) && !pathname.endsWith(configName)) return [href];
  const folder = pathname.slice(0, pathname.lastIndexOf("/") + 1);
  return [configName, weightsName].map((name) => Object.assign(new URL(href), { pathname: folder + name }).href);
}

// chosen are PEFT's two of all files in a folder: README.md lies there too.
function chosen(files: readonly Blob[]): readonly Blob[] {
  const two = files.filter((file) => file instanceof File && [configName, weightsName].includes(file.name));
  return two.length === 2 ? two : files;
}

/** @internal nameOf is how an adapter is called where nothing is said. */
export function nameOf(source: AdapterSource): string {
  if (typeof source === "string" || source instanceof URL) return lastName(new URL(absolute(source)).pathname);
  if (source instanceof File) return lastName(source.name);
  if (Array.isArray(source)) {
    const path = (source as Blob[]).map((file) => (file instanceof File ? file.webkitRelativePath : "")).find(Boolean);
    return path ? lastName(path) : "adapter";
  }
  return (source as { opfs?: string })?.opfs ?? "adapter";
}

// lastName is a file's name without its ending, or that of the folder with PEFT's files.
function lastName(path: string): string {
  const parts = path
    .split("/")
    .filter(Boolean)
    .map((part) => decodeURIComponent(part));
  if (parts.at(-1) === configName || parts.at(-1) === weightsName) parts.pop();
  return parts.at(-1)?.replace(/\.gguf$/, "") || "adapter";
}
