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

  read(offset: number, length: number): Uint8Array {
    return this.#bytes!.subarray(offset, offset + length);
  }
  close(): void {
    this.#bytes = null;
  }
}

/**
 * BlobSource reads a file that the user picked. Reads that go on where the one before
 * ended come out of one stream, several times as fast as slices by themselves.
 */
export class BlobSource implements OpenSource {
  readonly size: number;
  #blob: Blob;
  #end = -1; // of the last read
  #stream: BlobStream | null = null; // goes on at #end

  constructor(blob: Blob) {
    this.#blob = blob;
    this.size = blob.size;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const goesOn = offset === this.#end;
    this.#end = offset + length;
    try {
      if (!goesOn || !BlobStream.supported) {
        this.close();
        return new Uint8Array(await this.#blob.slice(offset, offset + length).arrayBuffer());
      }
      return await (this.#stream ??= new BlobStream(this.#blob.slice(offset))).read(length);
    } catch (error) {
      this.#end = -1;
      this.close();
      throw new GemwireError("changed", `the file cannot be read any more: ${(error as Error).message}`, {
        advice: "It was changed, moved or deleted since it was picked: pick it again.",
        cause: error,
      });
    }
  }

  close(): void {
    this.#stream?.cancel();
    this.#stream = null;
  }
}

/** BlobStream reads a Blob from its beginning, into the same memory each time. */
class BlobStream {
  // Streams of Blobs that read into given memory came late to some browsers.
  static readonly supported = canReadInto();
  #reader: ReadableStreamBYOBReader;
  #memory = new ArrayBuffer(0);

  constructor(blob: Blob) {
    this.#reader = blob.stream().getReader({ mode: "byob" });
  }

  async read(length: number): Promise<Uint8Array> {
    if (this.#memory.byteLength < length) this.#memory = new ArrayBuffer(roomFor(length));
    for (let got = 0; got < length;) {
      const { value } = await this.#reader.read(new Uint8Array(this.#memory, got, length - got));
      if (!value?.length) throw new Error(`it ends ${length - got} bytes early`);
      this.#memory = value.buffer;
      got += value.length;
    }
    return new Uint8Array(this.#memory, 0, length);
  }

  cancel(): void {
    this.#reader.cancel().catch(() => {});
  }
}

function canReadInto(): boolean {
  try {
    void new Blob().stream().getReader({ mode: "byob" }).cancel();
    return true;
  } catch {
    return false;
  }
}

/** roomFor is one of few sizes: memory that is new has to be cleared and mapped before it is read into. */
function roomFor(length: number): number {
  return 2 ** Math.ceil(Math.log2(length));
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
    if (this.#buffer.length < length) this.#buffer = new Uint8Array(roomFor(length));
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

  close(): void {
    this.#handle.close();
  }
}
