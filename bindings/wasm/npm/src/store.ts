import { Connection } from "./connection.js";
import { GemwireError } from "./error.js";
import type { Op, Operations, OpenParams, PlanResult } from "./protocol.js";
import { absolute, toWire } from "./source.js";
import type { DownloadOptions, ImportOptions, LoadOptions, Source, StorageEstimate, StoredModel } from "./types.js";

let shared: Promise<Connection> | null = null;

// One worker serves the store; it is started when the store is first used.
async function connect(): Promise<Connection> {
  if (typeof globalThis.navigator?.storage?.getDirectory !== "function") {
    throw new GemwireError("unsupported", "this browser has no private file system (OPFS) for this page", {
      advice: "Serve the page by HTTPS or from localhost, and leave private browsing.",
    });
  }
  shared ??= Connection.open();
  const connection = await shared;
  void connection.lost.then(() => { shared = null; });
  return connection;
}

async function call<O extends Op>(op: O, params: Operations[O]["params"], options: Parameters<typeof Connection.prototype.call<O>>[2] = {}) {
  return (await connect()).call(op, params, options);
}

// Only a page may ask for storage that stays; a refusal changes nothing else.
async function persist(): Promise<void> {
  if (!(await navigator.storage.persisted?.())) await navigator.storage.persist?.().catch(() => false);
}

/** The models that are kept in the browser's storage (OPFS). */
export const store = {
  /** All models, half-finished downloads among them. */
  list(): Promise<StoredModel[]> { return call("storeList", {}); },

  /**
   * Downloads a model, or goes on with a download that broke off. It is hashed
   * while it streams; room is asked for and checked beforehand.
   */
  async download(url: string | URL, options: DownloadOptions = {}): Promise<StoredModel> {
    const href = absolute(url);
    await persist();
    const { name = nameOf(href), sha256, request, signal, onProgress } = options;
    return call("storeDownload", { url: href, name, ...(sha256 && { sha256 }), ...(request && { request }) }, { signal, onEvent: onProgress });
  },

  /** Copies a file into the storage. */
  async import(file: File | Blob, options: ImportOptions = {}): Promise<StoredModel> {
    const name = options.name ?? (file instanceof File ? file.name : "");
    if (!name) throw new GemwireError("bad-argument", "a Blob has no name: give one");
    await persist();
    return call("storeImport", { blob: file, name }, { signal: options.signal, onEvent: options.onProgress });
  },

  /** Deletes a model or a half-finished download. */
  async delete(name: string): Promise<void> { await call("storeDelete", { name }); },

  rename(from: string, to: string): Promise<StoredModel> { return call("storeRename", { from, to }); },

  /** How much storage is used and allowed. */
  estimate(): Promise<StorageEstimate> { return call("storeEstimate", {}); },

  /** What this device can hold of a model, from the file's header alone. */
  plan(source: Source, options: Pick<LoadOptions, "context" | "memoryBudget" | "signal" | "request"> = {}): Promise<PlanResult> {
    const params: OpenParams = {};
    if (options.context !== undefined) params.context = options.context;
    if (options.memoryBudget !== undefined) params.memoryBudget = Math.floor(options.memoryBudget);
    return call("plan", params, { source: toWire(source, options.request), signal: options.signal });
  },
};

/** `store.download`, under the name that says where it goes. */
export function downloadToOpfs(url: string | URL, options?: DownloadOptions): Promise<StoredModel> { return store.download(url, options); }

// nameOf is the file's name in an address.
function nameOf(href: string): string {
  const { pathname, hostname } = new URL(href);
  return decodeURIComponent(pathname.slice(pathname.lastIndexOf("/") + 1)) || hostname;
}
