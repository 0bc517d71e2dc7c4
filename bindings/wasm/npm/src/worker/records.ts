// What is written down about the models in OPFS. Each file has a record beside
// it, NAME.json; a download writes NAME.part, which gets the file's name when it
// is whole and right. What has no file of the recorded size under its name is
// not whole, whatever else was left behind. A model that is split over several
// files has a record of its own, which names those of its parts.
import { GemwireError } from "../error.js";
import { partsOf } from "../parts.js";
import type { StoredModel } from "../types.js";
import { folder, readJSON, removeFile, writeJSON } from "./opfs.js";

export const partSuffix = ".part";
const recordSuffix = ".json";

export interface Record {
  name: string;
  size: number;
  url?: string;
  version?: string;
  sha256?: string;
  modified: number;
  /** Of a download that has not ended: how much is in the part, and the hash up to there. */
  part?: { received: number; hash: string };
  /** Of a model in several files: the names of their records, in order. */
  files?: string[];
}

export const models = (): Promise<FileSystemDirectoryHandle> => folder("models");

export async function readRecord(dir: FileSystemDirectoryHandle, name: string): Promise<Record | null> {
  const record = (await readJSON(dir, checkName(name) + recordSuffix)) as Partial<Record> | null;
  // A record that a crash has cut off is as good as none.
  return record && record.name === name && Number.isSafeInteger(record.size) ? (record as Record) : null;
}

export function writeRecord(dir: FileSystemDirectoryHandle, record: Record): Promise<void> {
  return writeJSON(dir, record.name + recordSuffix, record);
}

export function removeRecord(dir: FileSystemDirectoryHandle, name: string): Promise<void> {
  return removeFile(dir, name + recordSuffix);
}

/** list describes all models; files of a split one are not told apart. */
export async function list(): Promise<StoredModel[]> {
  const dir = await models();
  const records = new Map<string, Record>();
  for await (const [file, handle] of dir.entries()) {
    if (handle.kind !== "file" || !file.endsWith(recordSuffix)) continue;
    const record = await readRecord(dir, file.slice(0, -recordSuffix.length));
    if (record) records.set(record.name, record);
  }
  const inner = new Set([...records.values()].flatMap((record) => record.files ?? []));
  const found = [...records.values()].filter((record) => !inner.has(record.name));
  return (await Promise.all(found.map((record) => describe(dir, record)))).sort((a, b) => a.name.localeCompare(b.name));
}

export async function describe(dir: FileSystemDirectoryHandle, record: Record): Promise<StoredModel> {
  const { name, size, url, sha256, modified, part, files } = record;
  const told = { name, size, modified, ...(url && { url }) };
  if (files) {
    const inner = await Promise.all(files.map((file) => readRecord(dir, file).then((r) => r && describe(dir, r))));
    const received = inner.reduce((sum, file) => sum + (file?.received ?? 0), 0);
    return { ...told, received, complete: inner.every((file) => file?.complete), files: files.length };
  }
  const complete = Boolean(await wholeFile(dir, record));
  return {
    ...told,
    received: complete ? size : (part?.received ?? 0),
    complete,
    files: 1,
    ...(complete && sha256 && { sha256 }),
  };
}

/** wholeFile is a record's file, null where it is not whole. */
export async function wholeFile(dir: FileSystemDirectoryHandle, record: Record): Promise<FileSystemFileHandle | null> {
  if (record.part || record.files) return null;
  try {
    const handle = await dir.getFileHandle(record.name);
    return (await handle.getFile()).size === record.size ? handle : null;
  } catch {
    return null;
  }
}

/** handlesOf is the files of a whole model, in order. */
export async function handlesOf(name: string): Promise<FileSystemFileHandle[]> {
  const dir = await models();
  const record = await readRecord(dir, name);
  if (!record) throw new GemwireError("not-found", `no model called ${JSON.stringify(name)} is stored here`);
  const handles: FileSystemFileHandle[] = [];
  for (const file of record.files ?? (await storedParts(dir, name))) {
    const inner = await readRecord(dir, file);
    const handle = inner && (await wholeFile(dir, inner));
    if (!handle)
      throw new GemwireError("bad-file", `the download of ${JSON.stringify(name)} has not ended`, {
        advice: "Download it again: it resumes where it stopped.",
      });
    handles.push(handle);
  }
  return handles;
}

// storedParts are the parts of a split model that were stored one by one.
async function storedParts(dir: FileSystemDirectoryHandle, name: string): Promise<string[]> {
  const names = partsOf(name) ?? [name];
  for (const part of names) if (!(await readRecord(dir, part))) return [name];
  return names;
}

/** checkName refuses what is no file's name. */
export function checkName(name: string, of = "a model"): string {
  if (
    !name ||
    name.length > 200 ||
    /[/\\\u0000-\u001f]/.test(name) ||
    name === "." ||
    name === ".." ||
    name.endsWith(recordSuffix) ||
    name.endsWith(partSuffix)
  ) {
    throw new GemwireError("bad-argument", `${JSON.stringify(name)} cannot be ${of}'s name`, {
      advice: "Use a short name without slashes that does not end in .json or .part.",
    });
  }
  return name;
}
