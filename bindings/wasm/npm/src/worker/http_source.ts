import { cancelled, GemwireError } from "../error.js";
import type { RequestOptions } from "../types.js";
import type { Blocks } from "./blocks.js";
import { RemoteFile, unreachable } from "./http.js";
import { MemorySource, type OpenSource } from "./open_source.js";
import { ReadAhead } from "./read_ahead.js";

// A file of a server that serves no parts is taken whole up to this size, in bytes.
const smallFile = 64 << 20;

/** openRemote opens a file on a server. */
export async function openRemote(
  url: string,
  blocks: Blocks,
  signal: AbortSignal,
  options?: RequestOptions,
): Promise<OpenSource> {
  const file = await RemoteFile.open(url, signal, options);
  if (!file.ranges) return new MemorySource(await whole(file, signal));
  const ahead = new ReadAhead(file, blocks);
  return {
    size: file.size!,
    read: (offset, length) => ahead.read(offset, length),
    cancel: () => ahead.cancel(),
    close: () => ahead.close(),
  };
}

// whole takes a file of a server that serves no parts, if it is small.
async function whole(file: RemoteFile, signal: AbortSignal): Promise<Uint8Array> {
  const tooLarge = () => new GemwireError("no-ranges", `${file.shown}: the server does not serve parts of the file`);
  if ((file.size ?? 0) > smallFile) throw tooLarge();
  let chunks: Uint8Array[] = [];
  let got = 0;
  await file.stream(
    0,
    file.size,
    signal,
    (chunk) => {
      got += chunk.length;
      if (got > smallFile) throw tooLarge();
      chunks.push(chunk);
    },
    () => {
      chunks = [];
      got = 0;
    },
  );
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

/** fetchWhole takes a small file at once, through the browser's cache and the page's service worker. */
export async function fetchWhole(
  url: string,
  signal: AbortSignal,
  { headers, credentials }: RequestOptions = {},
): Promise<Uint8Array> {
  let response: Response;
  try {
    response = await fetch(url, { signal, ...(headers && { headers }), ...(credentials && { credentials }) });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (signal.aborted) throw cancelled(signal);
    throw unreachable("the built-in model", error);
  }
  throw new GemwireError(
    response.status === 404 ? "not-found" : "network",
    `the built-in model could not be loaded: the server answers ${response.status}`,
    {
      advice: 'Check that nano.gguf is served next to the package\'s nano.js, or set its URL: {builtin: "nano", url}.',
    },
  );
}
