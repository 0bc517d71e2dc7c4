// The adapters in OPFS: one file each, in llama.cpp's form, which is whole or not there.
import { GemwireError } from "../error.js";
import type { StoredAdapter } from "../types.js";
import { folder, move, NewFile, removeFile } from "./opfs.js";
import { checkName } from "./records.js";

const suffix = ".gguf";
const adapters = (): Promise<FileSystemDirectoryHandle> => folder("adapters");

export async function listAdapters(): Promise<StoredAdapter[]> {
  const found: StoredAdapter[] = [];
  for await (const [file, handle] of (await adapters()).entries()) {
    if (handle.kind === "file" && file.endsWith(suffix))
      found.push(await describe(file.slice(0, -suffix.length), handle as FileSystemFileHandle));
  }
  return found.sort((a, b) => a.name.localeCompare(b.name));
}

async function describe(name: string, handle: FileSystemFileHandle): Promise<StoredAdapter> {
  const { size, lastModified } = await handle.getFile();
  return { name, size, modified: lastModified };
}

/** keepAdapter keeps what fill writes. */
export async function keepAdapter(
  name: string,
  fill: (write: (bytes: Uint8Array) => void) => Promise<unknown>,
): Promise<StoredAdapter> {
  const dir = await adapters(),
    path = checkName(name, "an adapter") + suffix;
  const file = await NewFile.open(dir, path);
  try {
    await fill((bytes) => file.write(bytes));
    await file.finish();
  } finally {
    await file.discard();
  }
  return describe(name, await dir.getFileHandle(path));
}

export async function adapterFile(name: string): Promise<File> {
  return (await handleOf(name)).getFile();
}

async function handleOf(name: string): Promise<FileSystemFileHandle> {
  try {
    return await (await adapters()).getFileHandle(checkName(name, "an adapter") + suffix);
  } catch (error) {
    if (error instanceof GemwireError) throw error;
    throw new GemwireError("not-found", `no adapter called ${JSON.stringify(name)} is stored here`);
  }
}

export async function renameAdapter(from: string, to: string): Promise<StoredAdapter> {
  const handle = await handleOf(from);
  if ((await listAdapters()).some(({ name }) => name === to)) {
    throw new GemwireError("bad-argument", `an adapter called ${JSON.stringify(to)} is stored here already`);
  }
  await move(handle, checkName(to, "an adapter") + suffix);
  return describe(to, handle);
}

export async function deleteAdapter(name: string): Promise<void> {
  await removeFile(await adapters(), checkName(name, "an adapter") + suffix);
}
