import { GemwireError } from "../error.js";
import { Hash } from "./hash.js";
import { move, removeFile, writeAll } from "./opfs.js";
import { partSuffix, removeRecord, writeRecord, type Record } from "./records.js";
import { full, megabytes } from "./room.js";

// How often a part's state is written down, in bytes and milliseconds.
const noteBytes = 32 << 20;
const noteTime = 1000;

/** Part is a file that is being written: hashed on the way, and never mistaken for a whole one. */
export class Part {
  received = 0;
  resumed = 0;
  #dir: FileSystemDirectoryHandle;
  #record: Record;
  #shown: string;
  #file: FileSystemSyncAccessHandle | null;
  #hash: Hash;
  #noted = { at: 0, time: 0 };

  private constructor(
    dir: FileSystemDirectoryHandle,
    record: Record,
    shown: string,
    file: FileSystemSyncAccessHandle,
    hash: Hash,
  ) {
    this.#dir = dir;
    this.#record = record;
    this.#shown = shown;
    this.#file = file;
    this.#hash = hash;
  }

  /** open begins a part, or goes on with one. People know it by what is shown. */
  static async open(
    dir: FileSystemDirectoryHandle,
    record: Record,
    shown: string,
    before?: Record["part"],
  ): Promise<Part> {
    const handle = await dir.getFileHandle(record.name + partSuffix, { create: true });
    const file = await handle.createSyncAccessHandle();
    const part = new Part(dir, record, shown, file, await Hash.create());
    if (before && before.received <= file.getSize() && part.#hash.restore(before.hash))
      part.received = part.resumed = before.received;
    file.truncate(part.received);
    await part.#reserve();
    await part.#note();
    return part;
  }

  /**
   * reserve takes the room for the whole file, so that a lack of it shows
   * before the download: what browsers estimate is not always so.
   */
  async #reserve(): Promise<void> {
    const { size } = this.#record;
    if (size <= this.received) return;
    let error: unknown;
    try {
      this.#file!.truncate(size);
      if (this.#file!.getSize() === size) return;
    } catch (thrown) {
      error = thrown;
    }
    await this.giveBack();
    throw full(error, `${this.#shown} needs ${megabytes(size - this.received)} more`);
  }

  async write(chunk: Uint8Array): Promise<void> {
    writeAll(this.#file!, chunk, this.received);
    this.received += chunk.length;
    this.#hash.update(chunk);
    if (this.received - this.#noted.at >= noteBytes || Date.now() - this.#noted.time >= noteTime) await this.#note();
  }

  /** note writes down how far the part is, after the bytes themselves. */
  async #note(): Promise<void> {
    this.#file!.flush();
    this.#noted = { at: this.received, time: Date.now() };
    await writeRecord(this.#dir, { ...this.#record, part: { received: this.received, hash: this.#hash.save() } });
  }

  async restart(): Promise<void> {
    this.#hash = await Hash.create();
    this.received = this.resumed = 0;
    await this.#note();
  }

  /** finish makes the part the file, if it is whole and what was expected. */
  async finish(sha256?: string): Promise<void> {
    await this.#note();
    const record = this.#record;
    if (record.size && this.received !== record.size) {
      throw new GemwireError(
        "network",
        `${this.#shown} has ${this.received} bytes, and the server promised ${record.size}`,
      );
    }
    const found = this.#hash.digest();
    const wrong =
      sha256 && sha256.toLowerCase() !== found
        ? `its SHA-256 is ${found}, and should be ${sha256.toLowerCase()}`
        : isGGUF(this.#file!)
          ? ""
          : "it does not begin like one";
    if (wrong) {
      await this.discard();
      throw new GemwireError("bad-file", `${this.#shown} is not the GGUF file that was expected: ${wrong}`, {
        advice: "Check the address, and download it again.",
      });
    }
    record.size = this.received;
    record.sha256 = found;
    this.#file!.truncate(this.received);
    await this.close();
    await removeFile(this.#dir, record.name);
    await move(await this.#dir.getFileHandle(record.name + partSuffix), record.name);
    await writeRecord(this.#dir, record);
  }

  async discard(): Promise<void> {
    this.#file?.close();
    this.#file = null;
    await removeFile(this.#dir, this.#record.name + partSuffix);
    await removeRecord(this.#dir, this.#record.name);
  }

  /** giveBack keeps what is there, and frees the room that was reserved. */
  async giveBack(): Promise<void> {
    if (!this.#file) return;
    if (this.received === 0) return this.discard();
    this.#file.truncate(this.received);
    await this.close();
  }

  /** close keeps what is there, and the room, for another attempt. */
  async close(): Promise<void> {
    if (!this.#file) return;
    await this.#note().catch(() => {}); // a full disk; the note before holds
    this.#file.close();
    this.#file = null;
  }
}

function isGGUF(file: FileSystemSyncAccessHandle): boolean {
  const magic = new Uint8Array(4);
  return file.read(magic, { at: 0 }) === 4 && String.fromCharCode(...magic) === "GGUF";
}
