import { GemwireError } from "../error.js";

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

/** removeFile is content if there is none. */
export async function removeFile(dir: FileSystemDirectoryHandle, name: string): Promise<void> {
  await dir.removeEntry(name).catch((error: DOMException) => {
    if (error.name !== "NotFoundError") throw error;
  });
}

export async function move(file: FileSystemFileHandle, name: string): Promise<void> {
  if (!file.move) throw new GemwireError("unsupported", "this browser cannot rename stored files", { advice: "Update the browser." });
  await file.move(name);
}

export async function sizeOf(dir: FileSystemDirectoryHandle, name: string): Promise<number> {
  try {
    return (await (await dir.getFileHandle(name)).getFile()).size;
  } catch {
    return 0;
  }
}
