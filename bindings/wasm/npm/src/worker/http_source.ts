import { GemwireError } from "../error.js";
import type { RequestOptions } from "../types.js";
import type { Blocks } from "./blocks.js";
import { RemoteFile } from "./http.js";
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
