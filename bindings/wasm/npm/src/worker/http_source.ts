import { cancelled, GemwireError } from "../error.js";
import type { RequestOptions } from "../protocol.js";
import { RemoteFile } from "./http.js";
import { MemorySource, type OpenSource } from "./sources.js";

// A file of a server that serves no parts is taken whole up to this size, in bytes.
const smallFile = 64 << 20;
// Small reads fetch this much, because the next ones are near.
const leastRead = 512 << 10;

/** HttpSource reads a file on a server in ranges. */
export class HttpSource implements OpenSource {
  readonly size: number;
  #file: RemoteFile;
  #window: { first: number; bytes: Uint8Array } = { first: 0, bytes: new Uint8Array(0) };
  #reading = new AbortController();

  private constructor(file: RemoteFile) {
    this.#file = file;
    this.size = file.size!;
  }

  static async open(url: string, signal: AbortSignal, options?: RequestOptions): Promise<OpenSource> {
    const file = await RemoteFile.open(url, signal, options);
    if (file.ranges) return new HttpSource(file);
    return new MemorySource(await whole(file, signal));
  }

  read(offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    const { first, bytes } = this.#window;
    if (offset >= first && offset + length <= first + bytes.length) return bytes.subarray(offset - first, offset - first + length);
    return this.#fetch(offset, length);
  }

  async #fetch(offset: number, length: number): Promise<Uint8Array> {
    this.#reading = new AbortController();
    const wanted = Math.min(Math.max(length, leastRead), this.size - offset);
    const bytes = new Uint8Array(wanted);
    let got = 0;
    await this.#file.stream(offset, wanted, this.#reading.signal, (chunk) => {
      bytes.set(chunk, got);
      got += chunk.length;
    });
    this.#window = { first: offset, bytes };
    return bytes.subarray(0, length);
  }

  cancel(): void { this.#reading.abort(); }

  close(): void {
    this.cancel();
    this.#window = { first: 0, bytes: new Uint8Array(0) };
  }
}

// whole takes a file of a server that serves no parts, if it is small.
async function whole(file: RemoteFile, signal: AbortSignal): Promise<Uint8Array> {
  const tooLarge = () => new GemwireError("no-ranges", `${file.shown}: the server does not serve parts of the file`);
  if ((file.size ?? 0) > smallFile) throw tooLarge();
  let chunks: Uint8Array[] = [];
  let got = 0;
  await file.stream(0, file.size, signal, (chunk) => {
    got += chunk.length;
    if (got > smallFile) throw tooLarge();
    chunks.push(chunk);
  }, () => {
    chunks = [];
    got = 0;
  });
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

/** fetchWhole takes a small file at once, through the browser's cache and the page's service worker. */
export async function fetchWhole(url: string, signal: AbortSignal, { headers, credentials }: RequestOptions = {}): Promise<Uint8Array> {
  let response: Response;
  try {
    response = await fetch(url, { signal, ...(headers && { headers }), ...(credentials && { credentials }) });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (signal.aborted) throw cancelled(signal);
    throw new GemwireError("network", `the built-in model could not be loaded: ${(error as Error).message}`, { cause: error });
  }
  throw new GemwireError(response.status === 404 ? "not-found" : "network", `the built-in model could not be loaded: the server answers ${response.status}`, {
    advice: "Check that nano.gguf is served beside the package's index.js, or say where it is: {builtin: \"nano\", url}.",
  });
}
