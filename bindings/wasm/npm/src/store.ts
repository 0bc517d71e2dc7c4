import { Connection } from "./connection.js";
import { checkBrowser } from "./environment.js";
import { GemwireError } from "./error.js";
import type { Op, Operations, PlanResult } from "./protocol.js";
import { wholeName } from "./parts.js";
import { inOrder, siblings, toParams, toWire } from "./source.js";
import type { DownloadOptions, ImportOptions, LoadOptions, Source, StorageEstimate, StoredModel } from "./types.js";

let shared: Promise<Connection> | null = null;

// One worker serves the store; it is started when the store is first used.
async function connect(): Promise<Connection> {
  checkBrowser();
  if (typeof globalThis.navigator?.storage?.getDirectory !== "function") {
    throw new GemwireError("unsupported", "this browser has no private file system (OPFS) for this page", {
      advice: "Serve the page by HTTPS or from localhost, and leave private browsing.",
    });
  }
  shared ??= Connection.open();
  const connection = await shared;
  void connection.lost.then(() => {
    shared = null;
  });
  return connection;
}

/** @internal call asks the worker that serves the storage. */
export async function call<O extends Op>(
  op: O,
  params: Operations[O]["params"],
  options: Parameters<typeof Connection.prototype.call<O>>[2] = {},
) {
  return (await connect()).call(op, params, options);
}

// Only a page may ask for storage that stays; a refusal changes nothing else.
async function persist(): Promise<void> {
  checkBrowser();
  if (!(await navigator.storage.persisted?.())) await navigator.storage.persist?.().catch(() => false);
}

/** The models that are kept in the browser's storage (OPFS). */
export const store = {
  /** All models, half-finished downloads among them. */
  list(): Promise<StoredModel[]> {
    return call("storeList", {});
  },

  /**
   * Downloads a model, or goes on with a download that broke off. It is hashed
   * while it streams; room is asked for and checked beforehand. The address of
   * one part of a split model stands for all of them.
   */
  async download(url: string | URL, options: DownloadOptions = {}): Promise<StoredModel> {
    const urls = siblings(url);
    const { name = wholeName(nameOf(urls[0]!)), sha256, request, signal, onProgress } = options;
    const hashes = typeof sha256 === "string" ? [sha256] : sha256 && [...sha256];
    const odd = hashes?.find((hash) => !/^[0-9a-f]{64}$/i.test(hash));
    if (odd !== undefined)
      throw new GemwireError("bad-argument", `sha256 is ${JSON.stringify(odd)}; wanted 64 hexadecimal digits`);
    await persist();
    return call(
      "storeDownload",
      { urls, name, ...(hashes && { sha256: hashes }), ...(request && { request }) },
      { signal, onEvent: onProgress },
    );
  },

  /** Copies a file into the storage; of a split model, all its files. */
  async import(file: File | Blob | readonly (File | Blob)[], options: ImportOptions = {}): Promise<StoredModel> {
    const blobs = inOrder(file instanceof Blob ? [file] : file);
    const [first] = blobs;
    const name = options.name ?? (first instanceof File ? (blobs.length > 1 ? wholeName(first.name) : first.name) : "");
    if (!first || !name)
      throw new GemwireError("bad-argument", first ? "a Blob has no name: give one" : "choose a file to import");
    await persist();
    return call("storeImport", { blobs, name }, { signal: options.signal, onEvent: options.onProgress });
  },

  /** Deletes a model or a half-finished download. */
  async delete(name: string): Promise<void> {
    await call("storeDelete", { name });
  },

  rename(from: string, to: string): Promise<StoredModel> {
    return call("storeRename", { from, to });
  },

  /** How much storage is used and allowed. */
  estimate(): Promise<StorageEstimate> {
    return call("storeEstimate", {});
  },

  /** What this device can hold of a model, from the file's header alone. */
  plan(source: Source, options: Omit<LoadOptions, "worker"> = {}): Promise<PlanResult> {
    return call("plan", toParams(options), {
      source: toWire(source, options),
      signal: options.signal,
      onEvent: options.onProgress,
    });
  },
};

/** `store.download`, under the name that says where it goes. */
export function downloadToOpfs(url: string | URL, options?: DownloadOptions): Promise<StoredModel> {
  return store.download(url, options);
}

// nameOf is the file's name in an address.
function nameOf(href: string): string {
  const { pathname, hostname } = new URL(href);
  return decodeURIComponent(pathname.slice(pathname.lastIndexOf("/") + 1)) || hostname;
}
