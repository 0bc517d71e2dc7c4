// The models in OPFS. Each has a file and, beside it, a record. A download
// writes NAME.part, and the file gets its name when it is whole and right; what
// has no file of the recorded size under its name is not whole, whatever else
// was left behind.
import { cancelled, GemwireError } from "../error.js";
import type { Operations } from "../protocol.js";
import type { StoredModel, StorageEstimate, StoreProgress } from "../types.js";
import { Hash } from "./hash.js";
import { RemoteFile } from "./http.js";
import { folder, readJSON, removeFile, writeJSON } from "./opfs.js";

const modelFolder = "models";
const partSuffix = ".part";
const recordSuffix = ".json";
// How often a download's state is written down, in bytes and milliseconds.
const noteBytes = 32 << 20;
const noteTime = 1000;
// Room that must stay beside a model, in bytes: browsers need some themselves.
const spare = 16 << 20;

/** What is written down about a model. */
interface Record {
  name: string;
  size: number;
  url?: string;
  version?: string;
  sha256?: string;
  modified: number;
  /** Of a download that has not ended: how much is in the part, and the hash up to there. */
  part?: { received: number; hash: string };
}

type Tell = (progress: StoreProgress) => void;

const models = () => folder(modelFolder);

export async function list(): Promise<StoredModel[]> {
  const dir = await models();
  const found: StoredModel[] = [];
  for await (const [file, handle] of dir.entries()) {
    if (handle.kind !== "file" || !file.endsWith(recordSuffix)) continue;
    const record = await readRecord(dir, file.slice(0, -recordSuffix.length));
    if (record) found.push(await describe(dir, record));
  }
  return found.sort((a, b) => a.name.localeCompare(b.name));
}

/** handleOf is a whole model's file. */
export async function handleOf(name: string): Promise<FileSystemFileHandle> {
  const dir = await models();
  const record = await readRecord(dir, checkName(name));
  const file = record && await wholeFile(dir, record);
  if (file) return file;
  if (!record) throw new GemwireError("not-found", `no model called ${JSON.stringify(name)} is stored here`);
  throw new GemwireError("bad-file", `the download of ${JSON.stringify(name)} has not ended`, { advice: "Download it again: it goes on where it broke off." });
}

export function download(p: Operations["storeDownload"]["params"], signal: AbortSignal, tell: Tell): Promise<StoredModel> {
  return locked(p.name, async () => {
    const dir = await models();
    const remote = await RemoteFile.open(p.url, signal, p.request);
    const before = await readRecord(dir, p.name);
    const size = remote.size ?? 0;
    if (before && await wholeFile(dir, before) && sameFile(before, p.url, remote) && (!p.sha256 || before.sha256 === p.sha256.toLowerCase())) {
      tell({ done: before.size, total: before.size, resumed: before.size });
      return describe(dir, before);
    }
    const record: Record = { name: p.name, size, url: p.url, version: remote.version, modified: Date.now() };
    const resumable = before?.part && remote.ranges && remote.version && sameFile(before, p.url, remote) ? before.part : undefined;
    await checkRoom(size - (resumable?.received ?? 0), await partSize(dir, p.name) - (resumable?.received ?? 0));
    const part = await Part.open(dir, record, resumable);
    try {
      tell({ done: part.received, total: size, resumed: part.resumed });
      const left = remote.size === null ? null : remote.size - part.received;
      if (left !== 0) {
        await remote.stream(part.received, left, signal, async (chunk) => {
          await part.write(chunk);
          tell({ done: part.received, total: size, resumed: part.resumed });
        }, () => part.restart());
      }
      await part.finish(p.sha256);
    } finally {
      await part.close();
    }
    return describe(dir, record);
  });
}

export function importBlob({ blob, name }: Operations["storeImport"]["params"], signal: AbortSignal, tell: Tell): Promise<StoredModel> {
  return locked(name, async () => {
    const dir = await models();
    await checkRoom(blob.size, await partSize(dir, name));
    const record: Record = { name, size: blob.size, modified: Date.now() };
    const part = await Part.open(dir, record);
    const reader = blob.stream().getReader();
    try {
      for (;;) {
        if (signal.aborted) throw cancelled(signal);
        const { done, value } = await reader.read();
        if (done) break;
        await part.write(value);
        tell({ done: part.received, total: blob.size, resumed: 0 });
      }
      await part.finish();
    } catch (error) {
      await part.discard();
      throw error;
    } finally {
      reader.cancel().catch(() => {});
      await part.close();
    }
    return describe(dir, record);
  });
}

export function remove(name: string): Promise<void> {
  return locked(name, async () => {
    const dir = await models();
    // The record goes last: what is left after a crash is still listed.
    await removeFile(dir, name + partSuffix);
    await removeFile(dir, name);
    await removeFile(dir, name + recordSuffix);
  });
}

export function rename(from: string, to: string): Promise<StoredModel> {
  return locked(from, () => locked(to, async () => {
    const dir = await models();
    if (await readRecord(dir, to)) throw new GemwireError("bad-argument", `a model called ${JSON.stringify(to)} is stored here already`);
    const file = await handleOf(from);
    const record = { ...(await readRecord(dir, from))!, name: to };
    await writeJSON(dir, to + recordSuffix, record);
    await move(file, to);
    await removeFile(dir, from + recordSuffix);
    return describe(dir, record);
  }));
}

export async function estimate(): Promise<StorageEstimate> {
  const { usage = 0, quota = 0 } = await navigator.storage.estimate();
  return { usage, quota, persisted: await navigator.storage.persisted?.() ?? false };
}

/** Part is a file that is being written. */
class Part {
  received = 0;
  resumed = 0;
  #dir: FileSystemDirectoryHandle;
  #record: Record;
  #file: FileSystemSyncAccessHandle | null;
  #hash: Hash;
  #noted = { at: 0, time: 0 };

  private constructor(dir: FileSystemDirectoryHandle, record: Record, file: FileSystemSyncAccessHandle, hash: Hash) {
    this.#dir = dir;
    this.#record = record;
    this.#file = file;
    this.#hash = hash;
  }

  /** open begins a part, or goes on with one. */
  static async open(dir: FileSystemDirectoryHandle, record: Record, before?: Record["part"]): Promise<Part> {
    const handle = await dir.getFileHandle(record.name + partSuffix, { create: true });
    const file = await handle.createSyncAccessHandle();
    const part = new Part(dir, record, file, await Hash.create());
    if (before && before.received <= file.getSize() && part.#hash.restore(before.hash)) part.received = part.resumed = before.received;
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
    const { size, name } = this.#record;
    if (size <= this.received) return;
    let error: unknown;
    try {
      this.#file!.truncate(size);
      if (this.#file!.getSize() === size) return;
    } catch (thrown) {
      error = thrown;
    }
    this.#file!.truncate(this.received);
    if (this.received === 0) await this.discard();
    else await this.close();
    throw full(error, `${name} needs ${megabytes(size - this.received)} more`);
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let done = 0; done < chunk.length;) {
      let n = 0;
      try {
        n = this.#file!.write(chunk.subarray(done), { at: this.received });
      } catch (error) {
        throw (error as Error).name === "QuotaExceededError" ? full(error) : error;
      }
      // Chromium gives back an error's number as a count where there is no room.
      if (!(n > 0 && n <= chunk.length - done)) throw full();
      done += n;
      this.received += n;
    }
    this.#hash.update(chunk);
    if (this.received - this.#noted.at >= noteBytes || Date.now() - this.#noted.time >= noteTime) await this.#note();
  }

  /** note writes down how far the part is, after the bytes themselves. */
  async #note(): Promise<void> {
    this.#file!.flush();
    this.#noted = { at: this.received, time: Date.now() };
    await writeJSON(this.#dir, this.#record.name + recordSuffix, { ...this.#record, part: { received: this.received, hash: this.#hash.save() } });
  }

  async restart(): Promise<void> {
    this.#hash = await Hash.create();
    this.received = this.resumed = 0;
    await this.#note();
  }

  /** finish makes the part the model, if it is whole and what was expected. */
  async finish(sha256?: string): Promise<void> {
    await this.#note();
    const record = this.#record;
    if (record.size && this.received !== record.size) {
      throw new GemwireError("network", `${record.name} has ${this.received} bytes, and the server promised ${record.size}`);
    }
    const found = this.#hash.digest();
    const wrong = sha256 && sha256.toLowerCase() !== found
      ? `its SHA-256 is ${found}, and should be ${sha256.toLowerCase()}`
      : isGGUF(this.#file!) ? "" : "it does not begin like one";
    if (wrong) {
      await this.discard();
      throw new GemwireError("bad-file", `${record.name} is not the GGUF file that was expected: ${wrong}`, { advice: "Check the address, and download it again." });
    }
    record.size = this.received;
    record.sha256 = found;
    this.#file!.truncate(this.received);
    await this.close();
    await removeFile(this.#dir, record.name);
    await move(await this.#dir.getFileHandle(record.name + partSuffix), record.name);
    await writeJSON(this.#dir, record.name + recordSuffix, record);
  }

  async discard(): Promise<void> {
    this.#file?.close();
    this.#file = null;
    await removeFile(this.#dir, this.#record.name + partSuffix);
    await removeFile(this.#dir, this.#record.name + recordSuffix);
  }

  /** close keeps what is there, for another attempt. */
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

const full = (cause?: unknown, what = "") => new GemwireError("quota", `the browser's storage is full${what && `: ${what}`}`, { cause });

const megabytes = (n: number) => `${Math.max(0, Math.round(n / 1e6)).toLocaleString("en")} MB`;

async function move(file: FileSystemFileHandle, name: string): Promise<void> {
  if (!file.move) throw new GemwireError("unsupported", "this browser cannot rename stored files", { advice: "Update the browser." });
  await file.move(name);
}

/** checkRoom refuses what the browser's storage has no room for; freed bytes are about to be given back. */
async function checkRoom(needed: number, freed = 0): Promise<void> {
  const { usage, quota } = await estimate();
  const free = quota - usage + Math.max(0, freed);
  if (quota === 0 || needed + spare <= free) return;
  throw new GemwireError("quota", `${megabytes(needed)} are needed, and the browser gives this page ${megabytes(free)} more`);
}

async function partSize(dir: FileSystemDirectoryHandle, name: string): Promise<number> {
  try {
    return (await (await dir.getFileHandle(name + partSuffix)).getFile()).size;
  } catch {
    return 0;
  }
}

const sameFile = (record: Record, url: string, remote: RemoteFile) =>
  record.url === url && (record.version ?? "") === remote.version && (remote.size === null || record.size === remote.size);

async function readRecord(dir: FileSystemDirectoryHandle, name: string): Promise<Record | null> {
  const record = await readJSON(dir, checkName(name) + recordSuffix) as Partial<Record> | null;
  // A record that a crash has cut off is as good as none.
  return record && record.name === name && Number.isSafeInteger(record.size) ? record as Record : null;
}

/** wholeFile is the model's file, null where it is not whole. */
async function wholeFile(dir: FileSystemDirectoryHandle, record: Record): Promise<FileSystemFileHandle | null> {
  if (record.part) return null;
  try {
    const handle = await dir.getFileHandle(record.name);
    return (await handle.getFile()).size === record.size ? handle : null;
  } catch {
    return null;
  }
}

async function describe(dir: FileSystemDirectoryHandle, record: Record): Promise<StoredModel> {
  const { name, size, url, sha256, modified, part } = record;
  const complete = Boolean(await wholeFile(dir, record));
  return { name, size, complete, received: complete ? size : part?.received ?? 0, modified, ...(url && { url }), ...(complete && sha256 && { sha256 }) };
}

/** checkName refuses what is no file's name. */
function checkName(name: string): string {
  if (!name || name.length > 200 || /[/\\\u0000-\u001f]/.test(name) || name === "." || name === ".." || name.endsWith(recordSuffix) || name.endsWith(partSuffix)) {
    throw new GemwireError("bad-argument", `${JSON.stringify(name)} cannot be a model's name`, { advice: "Use a short name without slashes that does not end in .json or .part." });
  }
  return name;
}

/** locked keeps tabs and workers from changing one model at a time. */
async function locked<T>(name: string, work: () => Promise<T>): Promise<T> {
  checkName(name);
  return navigator.locks.request(`gemwire model ${name}`, { ifAvailable: true }, async (lock) => {
    if (lock) return work();
    throw new GemwireError("busy", `${JSON.stringify(name)} is being changed already, perhaps in another tab`, { advice: "Wait until that is done." });
  });
}
