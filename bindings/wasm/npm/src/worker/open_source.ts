import { GemwireError } from "../error.js";

/**
 * OpenSource is what Go reads a file from (gguf.OpenJS). The bytes that read
 * gives are good until the next read.
 */
export interface OpenSource {
  readonly size: number;
  read(offset: number, length: number): Uint8Array | Promise<Uint8Array>;
  /** The same into memory that is given, which may be the GPU's. */
  readInto?(offset: number, into: Uint8Array): void;
  cancel?(): void;
  close?(): void;
}

export class MemorySource implements OpenSource {
  readonly size: number;
  #bytes: Uint8Array | null;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.size = bytes.length;
  }

  read(offset: number, length: number): Uint8Array { return this.#bytes!.subarray(offset, offset + length); }
  close(): void { this.#bytes = null; }
}

export class BlobSource implements OpenSource {
  readonly size: number;
  #blob: Blob;

  constructor(blob: Blob) {
    this.#blob = blob;
    this.size = blob.size;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    try {
      return new Uint8Array(await this.#blob.slice(offset, offset + length).arrayBuffer());
    } catch (error) {
      throw new GemwireError("changed", `the file cannot be read any more: ${(error as Error).message}`, {
        advice: "It was changed, moved or deleted since it was picked: pick it again.", cause: error,
      });
    }
  }
}

/** HandleSource reads OPFS without a copy in between. */
export class HandleSource implements OpenSource {
  readonly size: number;
  #handle: FileSystemSyncAccessHandle;
  #buffer = new Uint8Array(0);

  constructor(handle: FileSystemSyncAccessHandle) {
    this.#handle = handle;
    this.size = handle.getSize();
  }

  read(offset: number, length: number): Uint8Array {
    // Few sizes: memory that is new has to be cleared and mapped before it is read into.
    if (this.#buffer.length < length) this.#buffer = new Uint8Array(2 ** Math.ceil(Math.log2(length)));
    const view = this.#buffer.subarray(0, length);
    this.readInto(offset, view);
    return view;
  }

  readInto(offset: number, into: Uint8Array): void {
    for (let got = 0; got < into.length;) {
      const n = this.#handle.read(into.subarray(got), { at: offset + got });
      if (n === 0) throw new GemwireError("changed", `the stored file ends at byte ${offset + got} of ${this.size}`);
      got += n;
    }
  }

  close(): void { this.#handle.close(); }
}
