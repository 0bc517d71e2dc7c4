// Files that Go writes, in pieces beside its replies.
import type { Op, WrittenFile } from "../protocol.js";
import type { Engine } from "./engine.js";
import type { OpenSource } from "./open_source.js";

export interface FileRequest {
  sources?: OpenSource[];
  signal: AbortSignal;
}

/** writeFiles asks Go for files; what write throws ends the request. */
export async function writeFiles(
  go: Engine,
  op: Op,
  params: unknown,
  { sources, signal }: FileRequest,
  write: (file: string, bytes: Uint8Array<ArrayBuffer>) => void,
): Promise<unknown> {
  const failed = new AbortController();
  let thrown: { error: unknown } | null = null;
  try {
    return await go.call(op, params, {
      ...(sources && { sources }),
      signal: AbortSignal.any([signal, failed.signal]),
      write({ file }, bytes) {
        if (thrown) return;
        try {
          write(file, bytes);
        } catch (error) {
          thrown = { error };
          failed.abort();
        }
      },
    });
  } finally {
    if (thrown) throw (thrown as { error: unknown }).error;
  }
}

/** collectFiles keeps files outside of Go's memory. */
export async function collectFiles(go: Engine, op: Op, params: unknown, request: FileRequest): Promise<WrittenFile[]> {
  const pieces = new Map<string, Uint8Array<ArrayBuffer>[]>();
  await writeFiles(go, op, params, request, (file, bytes) => {
    const list = pieces.get(file);
    if (list) list.push(bytes);
    else pieces.set(file, [bytes]);
  });
  return [...pieces].map(([name, list]) => ({ name, blob: new Blob(list) }));
}
