import { GemwireError } from "../error.js";
import { full } from "./room.js";

// Files of this package in the origin's private file system, under one folder.
const home = "gemwire";

export async function folder(name: string): Promise<FileSystemDirectoryHandle> {
  const root = await navigator.storage.getDirectory();
  return (await root.getDirectoryHandle(home, { create: true })).getDirectoryHandle(name, { create: true });
}

/** readJSON is null where the file is missing or is no JSON. */
export async function readJSON(dir: FileSystemDirectoryHandle, name: string): Promise<unknown> {
  try {
    return JSON.parse(await (await (await dir.getFileHandle(name)).getFile()).text());
  } catch {
    return null;
  }
}

export async function writeJSON(dir: FileSystemDirectoryHandle, name: string, value: unknown): Promise<void> {
  const handle = await (await dir.getFileHandle(name, { create: true })).createSyncAccessHandle();
  try {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    handle.write(bytes, { at: 0 });
    handle.truncate(bytes.length);
    handle.flush();
  } finally {
    handle.close();
  }
}

/** writeAll writes bytes into an open file; a full disk is an error of code "quota". */
export function writeAll(file: FileSystemSyncAccessHandle, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length;) {
    let n = 0;
    try {
      n = file.write(bytes.subarray(done), { at: at + done });
    } catch (error) {
      throw (error as Error).name === "QuotaExceededError" ? full(error) : error;
    }
    // Chromium gives back an error's number as a count where there is no room.
    if (!(n > 0 && n <= bytes.length - done)) throw full();
    done += n;
  }
}

export const newSuffix = ".new";

/** NewFile is a file that is found under its name when it is whole, and not before. */
export class NewFile {
  size = 0;
  #dir: FileSystemDirectoryHandle;
  #name: string;
  #file: FileSystemSyncAccessHandle | null;

  private constructor(dir: FileSystemDirectoryHandle, name: string, file: FileSystemSyncAccessHandle) {
    this.#dir = dir;
    this.#name = name;
    this.#file = file;
    file.truncate(0);
  }

  static async open(dir: FileSystemDirectoryHandle, name: string): Promise<NewFile> {
    const handle = await dir.getFileHandle(name + newSuffix, { create: true });
    return new NewFile(dir, name, await handle.createSyncAccessHandle());
  }

  write(bytes: Uint8Array): void {
    writeAll(this.#file!, bytes, this.size);
    this.size += bytes.length;
  }

  /** finish gives the file its name, or another one, in place of a file that has it. */
  async finish(name = this.#name): Promise<void> {
    this.#file!.flush();
    this.#close();
    await move(await this.#dir.getFileHandle(this.#name + newSuffix), name);
  }

  /** discard leaves nothing of a file that is not finished. */
  async discard(): Promise<void> {
    if (!this.#file) return;
    this.#close();
    await removeFile(this.#dir, this.#name + newSuffix);
  }

  #close(): void {
    this.#file?.close();
    this.#file = null;
  }
}

/** removeFile is content if there is none. */
export async function removeFile(dir: FileSystemDirectoryHandle, name: string): Promise<void> {
  await dir.removeEntry(name).catch((error: DOMException) => {
    if (error.name !== "NotFoundError") throw error;
  });
}

export async function move(file: FileSystemFileHandle, name: string): Promise<void> {
  if (!file.move)
    throw new GemwireError("unsupported", "this browser cannot rename stored files", { advice: "Update the browser." });
  await file.move(name);
}

export async function sizeOf(dir: FileSystemDirectoryHandle, name: string): Promise<number> {
  try {
    return (await (await dir.getFileHandle(name)).getFile()).size;
  } catch {
    return 0;
  }
}
