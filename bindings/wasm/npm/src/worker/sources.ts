import type { WireFile, WireSource } from "../protocol.js";
import { adapterFile } from "./adapter_files.js";
import { openArriving } from "./arriving_source.js";
import { Blocks } from "./blocks.js";
import { openRemote } from "./http_source.js";
import { BlobSource, HandleSource, MemorySource, type OpenSource } from "./open_source.js";
import { handlesOf } from "./records.js";

/** OpenModel is the files of a model: the text model's, then the projector, then the assistant's. */
export interface OpenModel {
  sources: OpenSource[];
  /** How many of them are the text model's. */
  parts: number;
}

export async function openModel({ parts, mmproj, assistant }: WireSource, signal: AbortSignal): Promise<OpenModel> {
  const sources: OpenSource[] = [];
  const blocks = new Blocks();
  try {
    for (const part of parts) await openFile(part, sources, blocks, signal);
    const count = sources.length;
    if (mmproj) await openFile(mmproj, sources, blocks, signal);
    if (assistant) await openFile(assistant, sources, blocks, signal);
    return { sources, parts: count };
  } catch (error) {
    for (const source of sources) source.close?.();
    throw error;
  }
}

// openFile adds one file to what is open; several, where one in OPFS stands for them.
async function openFile(file: WireFile, into: OpenSource[], blocks: Blocks, signal: AbortSignal): Promise<void> {
  switch (file.kind) {
    case "url":
      into.push(
        file.whole
          ? await openArriving(file.url, file.whole, signal, file.request)
          : await openRemote(file.url, blocks, signal, file.request),
      );
      break;
    case "blob":
      into.push(new BlobSource(file.blob));
      break;
    case "buffer":
      into.push(new MemorySource(new Uint8Array(file.buffer)));
      break;
    case "adapter":
      into.push(new BlobSource(await adapterFile(file.name)));
      break;
    case "opfs":
      for (const handle of await handlesOf(file.name)) into.push(await openHandle(handle));
  }
}

// openHandle shares the file with other tabs where the browser can do so; a
// file that another tab holds for itself is read as a Blob.
async function openHandle(handle: FileSystemFileHandle): Promise<OpenSource> {
  if (typeof handle.createSyncAccessHandle !== "function") return new BlobSource(await handle.getFile());
  try {
    return new HandleSource(await handle.createSyncAccessHandle({ mode: "read-only" }));
  } catch {
    return new BlobSource(await handle.getFile());
  }
}
