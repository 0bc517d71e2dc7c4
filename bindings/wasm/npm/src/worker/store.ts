// What is done with the models in OPFS: download, import, delete, rename. See
// records.ts for what is kept of them and part.ts for how a file is written.
import { cancelled, GemwireError } from "../error.js";
import type { Operations } from "../protocol.js";
import type { RequestOptions, StoredModel, StoreProgress } from "../types.js";
import { RemoteFile } from "./http.js";
import { move, removeFile, sizeOf } from "./opfs.js";
import { Part } from "./part.js";
import {
  checkName,
  describe,
  handlesOf,
  models,
  partSuffix,
  readRecord,
  removeRecord,
  wholeFile,
  writeRecord,
  type Record,
} from "./records.js";
import { checkRoom } from "./room.js";

type Tell = (progress: StoreProgress) => void;

/** Wanted is a file of a model, and what is here of it. */
interface Wanted {
  record: Record;
  /** How people know it. */
  shown: string;
  sha256?: string | undefined;
  whole: boolean;
  resumable?: Record["part"] | undefined;
  /** Where its bytes come from. */
  fill(part: Part, told: () => void): Promise<void>;
}

const shownAs = (name: string, i: number, count: number) =>
  count === 1 ? name : `${name} (part ${i + 1} of ${count})`;

/** files are the names under which a model's files are kept: its own, or some that nobody sees. */
function files(name: string, count: number, before: Record | null): string[] {
  if (count === 1) return [name];
  if (before?.files?.length === count) return before.files;
  const id = crypto.randomUUID();
  return Array.from({ length: count }, (_, i) => `${id}-${i + 1}`);
}

export function download(
  p: Operations["storeDownload"]["params"],
  signal: AbortSignal,
  tell: Tell,
): Promise<StoredModel> {
  const { urls, name, sha256 } = p;
  if (sha256 && sha256.length !== urls.length) {
    throw new GemwireError("bad-argument", `${name} has ${urls.length} files, and ${sha256.length} hashes were given`);
  }
  return locked(name, async () => {
    const dir = await models();
    const before = await readRecord(dir, name);
    const names = files(name, urls.length, before);
    const wanted: Wanted[] = [];
    for (const [i, url] of urls.entries()) {
      const shown = shownAs(name, i, urls.length);
      wanted.push({ shown, ...(await remote(dir, names[i]!, url, sha256?.[i], signal, p.request)) });
    }
    return save(dir, name, before, wanted, tell, urls[0]);
  });
}

// remote asks the server what a file is, and looks how much of it is here.
async function remote(
  dir: FileSystemDirectoryHandle,
  name: string,
  url: string,
  sha256: string | undefined,
  signal: AbortSignal,
  request?: RequestOptions,
): Promise<Omit<Wanted, "shown">> {
  const file = await RemoteFile.open(url, signal, request);
  const before = await readRecord(dir, name);
  const same =
    before &&
    before.url === url &&
    (before.version ?? "") === file.version &&
    (file.size === null || before.size === file.size)
      ? before
      : null;
  const whole = same && (await wholeFile(dir, same)) && (!sha256 || same.sha256 === sha256.toLowerCase());
  return {
    record: whole ? same : { name, size: file.size ?? 0, url, version: file.version, modified: Date.now() },
    sha256,
    whole: Boolean(whole),
    resumable: file.ranges && file.version ? same?.part : undefined,
    async fill(part, told) {
      const left = file.size === null ? null : file.size - part.received;
      if (left === 0) return;
      await file.stream(
        part.received,
        left,
        signal,
        async (chunk) => {
          await part.write(chunk);
          told();
        },
        () => part.restart(),
      );
    },
  };
}

export function importBlobs(
  { blobs, name }: Operations["storeImport"]["params"],
  signal: AbortSignal,
  tell: Tell,
): Promise<StoredModel> {
  return locked(name, async () => {
    const dir = await models();
    const names = files(name, blobs.length, null);
    const wanted = blobs.map((blob, i): Wanted => ({
      record: { name: names[i]!, size: blob.size, modified: Date.now() },
      shown: shownAs(name, i, blobs.length),
      whole: false,
      fill: (part, told) => copy(blob, part, signal, told),
    }));
    try {
      return await save(dir, name, await readRecord(dir, name), wanted, tell);
    } catch (error) {
      // An import is begun anew: what broke off leaves nothing.
      for (const file of names) await removeOne(dir, file);
      if (names.length > 1) await removeRecord(dir, name);
      throw error;
    }
  });
}

// copy fills a part with a Blob.
async function copy(blob: Blob, part: Part, signal: AbortSignal, told: () => void): Promise<void> {
  const reader = blob.stream().getReader();
  try {
    for (;;) {
      if (signal.aborted) throw cancelled(signal);
      const { done, value } = await reader.read();
      if (done) return;
      await part.write(value);
      told();
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** save brings here what is wanted and not here yet, as one model. */
async function save(
  dir: FileSystemDirectoryHandle,
  name: string,
  before: Record | null,
  wanted: Wanted[],
  tell: Tell,
  url?: string,
): Promise<StoredModel> {
  const sum = (list: Wanted[]) => list.reduce((bytes, { record }) => bytes + record.size, 0);
  const total = wanted.every(({ record }) => record.size) ? sum(wanted) : 0;
  const record =
    wanted.length === 1
      ? wanted[0]!.record
      : { name, size: total, modified: Date.now(), files: wanted.map((file) => file.record.name), ...(url && { url }) };
  const missing = wanted.filter((file) => !file.whole);
  const here = sum(wanted) - sum(missing);
  await makeRoom(dir, before, record, missing);
  if (record.files) await writeRecord(dir, record);
  const parts = await reserve(dir, missing).catch(async (error: unknown) => {
    if (record.files && !(await describe(dir, record)).received) await removeRecord(dir, name);
    throw error;
  });
  try {
    const told = () =>
      tell({
        done: here + parts.reduce((bytes, part) => bytes + part.received, 0),
        total,
        resumed: here + parts.reduce((bytes, part) => bytes + part.resumed, 0),
      });
    told();
    for (const [i, part] of parts.entries()) {
      await missing[i]!.fill(part, told);
      await part.finish(missing[i]!.sha256);
    }
  } finally {
    for (const part of parts) await part.close();
  }
  return describe(dir, record);
}

// makeRoom checks that what is missing fits, and removes what it takes the place of.
async function makeRoom(
  dir: FileSystemDirectoryHandle,
  before: Record | null,
  now: Record,
  missing: Wanted[],
): Promise<void> {
  if (missing.length === 0) return;
  const kept = now.files ?? [now.name];
  const others = (before ? (before.files ?? [before.name]) : []).filter((file) => !kept.includes(file));
  let needed = 0,
    freed = 0;
  for (const { record, resumable } of missing) {
    needed += record.size - (resumable?.received ?? 0);
    freed +=
      (await sizeOf(dir, record.name)) + (await sizeOf(dir, record.name + partSuffix)) - (resumable?.received ?? 0);
  }
  for (const file of others) freed += (await sizeOf(dir, file)) + (await sizeOf(dir, file + partSuffix));
  await checkRoom(needed, freed);
  for (const { record } of missing) await removeFile(dir, record.name);
  for (const file of others) await removeOne(dir, file);
}

// reserve takes the room for all files before the first byte comes.
async function reserve(dir: FileSystemDirectoryHandle, missing: Wanted[]): Promise<Part[]> {
  const parts: Part[] = [];
  try {
    for (const { record, shown, resumable } of missing) parts.push(await Part.open(dir, record, shown, resumable));
    return parts;
  } catch (error) {
    for (const part of parts) await part.giveBack();
    throw error;
  }
}

export function remove(name: string): Promise<void> {
  return locked(name, async () => {
    const dir = await models();
    const record = await readRecord(dir, name);
    for (const file of record?.files ?? []) await removeOne(dir, file);
    await removeOne(dir, name);
  });
}

// removeOne removes a file. The record goes last: what is left after a crash is still listed.
async function removeOne(dir: FileSystemDirectoryHandle, name: string): Promise<void> {
  await removeFile(dir, name + partSuffix);
  await removeFile(dir, name);
  await removeRecord(dir, name);
}

export function rename(from: string, to: string): Promise<StoredModel> {
  return locked(from, () =>
    locked(to, async () => {
      const dir = await models();
      if (await readRecord(dir, to))
        throw new GemwireError("bad-argument", `a model called ${JSON.stringify(to)} is stored here already`);
      const handles = await handlesOf(from);
      const before = (await readRecord(dir, from))!;
      const record = { ...before, name: to };
      await writeRecord(dir, record);
      if (!before.files) await move(handles[0]!, to);
      await removeRecord(dir, from);
      return describe(dir, record);
    }),
  );
}

/** locked keeps tabs and workers from changing one model at a time. */
async function locked<T>(name: string, work: () => Promise<T>): Promise<T> {
  checkName(name);
  return navigator.locks.request(`gemwire model ${name}`, { ifAvailable: true }, async (lock) => {
    if (lock) return work();
    throw new GemwireError("busy", `${JSON.stringify(name)} is being changed already, perhaps in another tab`, {
      advice: "Wait until that is done.",
    });
  });
}
