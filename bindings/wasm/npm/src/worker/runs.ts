// Training runs in OPFS: a folder for each, with its data, its settings, and the
// last checkpoint. A checkpoint's name says after which step it was taken and what
// its bytes hash to, so that one which a crash has spoilt is never taken for good.
import { GemwireError } from "../error.js";
import type { Operations, PrepareParams, PrepareResult } from "../protocol.js";
import type { SavedRun } from "../types.js";
import type { Engine } from "./engine.js";
import { writeFiles } from "./go_files.js";
import { Hash } from "./hash.js";
import { BlobSource } from "./open_source.js";
import { folder, NewFile, readJSON, writeJSON } from "./opfs.js";
import { checkName } from "./records.js";
import { checkRoom } from "./room.js";

/** What is written down about a run. */
interface RunRecord {
  model: string;
  steps: number;
  prepare: PrepareParams;
}

/** readRecord also reads what version 0.1 wrote, where heldOutData was called held. */
async function readRecord(dir: FileSystemDirectoryHandle): Promise<RunRecord | null> {
  const record = (await readJSON(dir, recordFile)) as RunRecord | null;
  if (!record) return null;
  const { held, ...prepare } = record.prepare as PrepareParams & { held?: boolean };
  return { ...record, prepare: held ? { ...prepare, heldOutData: true } : prepare };
}

const recordFile = "run.json",
  dataFiles = ["data.jsonl", "held.jsonl"];
// As Go names the files of a checkpoint.
const checkpointFile = "checkpoint.safetensors";
type Kind = "checkpoint" | "best";
const pattern = /^(checkpoint|best)-(\d+)-([0-9a-f]{64})$/;

const runs = (): Promise<FileSystemDirectoryHandle> => folder("training");

async function runFolder(name: string, create = false): Promise<FileSystemDirectoryHandle> {
  try {
    return await (await runs()).getDirectoryHandle(checkName(name, "a run"), { create });
  } catch (error) {
    if (error instanceof GemwireError) throw error;
    throw new GemwireError("not-found", `no run called ${JSON.stringify(name)} is kept here`);
  }
}

/** CheckpointFile is a file of a checkpoint, which may be spoilt. */
interface CheckpointFile {
  file: string;
  kind: Kind;
  step: number;
  hash: string;
}

/** checkpointFiles are a run's checkpoint files, the newest first. */
async function checkpointFiles(dir: FileSystemDirectoryHandle, kind?: Kind): Promise<CheckpointFile[]> {
  const files: CheckpointFile[] = [];
  for await (const file of dir.keys()) {
    const [, found, step, hash] = pattern.exec(file) ?? [];
    if (found && (!kind || found === kind)) files.push({ file, kind: found as Kind, step: Number(step), hash: hash! });
  }
  return files.sort((a, b) => b.step - a.step);
}

export async function listRuns(): Promise<SavedRun[]> {
  const list: SavedRun[] = [];
  for await (const [name, handle] of (await runs()).entries()) {
    if (handle.kind !== "directory") continue;
    const run = await describe(name, handle as FileSystemDirectoryHandle);
    if (run) list.push(run);
  }
  return list.sort((a, b) => a.name.localeCompare(b.name));
}

// describe is null for a run without a checkpoint.
async function describe(name: string, dir: FileSystemDirectoryHandle): Promise<SavedRun | null> {
  const record = await readRecord(dir);
  const [last] = await checkpointFiles(dir, "checkpoint");
  if (!record || !last) return null;
  let size = 0,
    modified = 0;
  for await (const handle of dir.values()) {
    if (handle.kind !== "file") continue;
    const file = await (handle as FileSystemFileHandle).getFile();
    size += file.size;
    modified = Math.max(modified, file.lastModified);
  }
  return { name, model: record.model, step: last.step, steps: record.steps, size, modified };
}

/** saveRun puts down what a run is made of, before it is prepared. */
export async function saveRun(
  { name, ...record }: Operations["runSave"]["params"],
  data: readonly Blob[],
): Promise<void> {
  await refuseTaken(name);
  await deleteRun(name);
  await checkRoom(data.reduce((sum, blob) => sum + blob.size, 0));
  const dir = await runFolder(name, true);
  for (const [i, blob] of data.entries()) await copy(blob, dir, dataFiles[i]!);
  await writeJSON(dir, recordFile, { ...record, steps: 0 } satisfies RunRecord);
}

/** planRun puts down how long a run is. That there is no room for its checkpoints is told before its first step. */
export async function planRun({ name, steps, bytes }: Operations["runPlanned"]["params"]): Promise<void> {
  await checkRoom(bytes);
  const dir = await runFolder(name);
  const record = await readRecord(dir);
  if (!record) throw new GemwireError("not-found", `the run ${JSON.stringify(name)} was deleted while it was prepared`);
  await writeJSON(dir, recordFile, { ...record, steps } satisfies RunRecord);
}

async function refuseTaken(name: string): Promise<void> {
  const dir = await runFolder(name).catch((error: GemwireError) => {
    if (error.code !== "not-found") throw error;
  });
  if (dir && (await describe(name, dir))) {
    throw new GemwireError("bad-argument", `a run called ${JSON.stringify(name)} is kept here already`, {
      advice: "Go on with it (resume), delete it (deleteSaved), or take another name.",
    });
  }
}

async function copy(blob: Blob, dir: FileSystemDirectoryHandle, name: string): Promise<void> {
  const file = await NewFile.open(dir, name);
  try {
    for await (const chunk of blob.stream()) file.write(chunk);
    await file.finish();
  } finally {
    await file.discard();
  }
}

export async function deleteRun(name: string): Promise<void> {
  await (await runs()).removeEntry(checkName(name, "a run"), { recursive: true }).catch((error: DOMException) => {
    if (error.name !== "NotFoundError") throw error;
  });
}

/** resumeRun prepares the rest of a run from its last good checkpoint. */
export async function resumeRun(
  go: Engine,
  { name, model }: Operations["runResume"]["params"],
  signal: AbortSignal,
): Promise<PrepareResult> {
  const dir = await runFolder(name);
  const record = await readRecord(dir);
  const checkpoint = await lastGood(dir, "checkpoint");
  if (!record || !checkpoint)
    throw new GemwireError("bad-file", `the run ${JSON.stringify(name)} has no complete checkpoint`, {
      advice: "Delete it, and train again.",
    });
  const best = await lastGood(dir, "best");
  const binaries: Uint8Array[] = [];
  for (const file of dataFiles.slice(0, record.prepare.heldOutData ? 2 : 1)) {
    binaries.push(new Uint8Array(await (await (await dir.getFileHandle(file)).getFile()).arrayBuffer()));
  }
  const sources = [checkpoint, ...(best ? [best] : [])].map((file) => new BlobSource(file));
  return (await go.call(
    "prepareTraining",
    { ...record.prepare, model, resume: true },
    { binaries, sources, signal },
  )) as PrepareResult;
}

// lastGood is the newest file whose bytes are what its name says.
async function lastGood(dir: FileSystemDirectoryHandle, kind: Kind): Promise<File | null> {
  for (const { file, hash } of await checkpointFiles(dir, kind)) {
    const found = await (await dir.getFileHandle(file)).getFile();
    if ((await hashOf(found)) === hash) return found;
  }
  return null;
}

async function hashOf(blob: Blob): Promise<string> {
  const hash = await Hash.create();
  for await (const chunk of blob.stream()) hash.update(chunk);
  return hash.digest();
}

/** saveCheckpoint takes a checkpoint of a run; the one before stays until it is whole. */
export async function saveCheckpoint(
  go: Engine,
  { run, name }: Operations["runCheckpoint"]["params"],
  signal: AbortSignal,
): Promise<{ step: number }> {
  const dir = await runFolder(name);
  const before = await checkpointFiles(dir);
  const files = { checkpoint: await Writing.open(dir, "checkpoint"), best: await Writing.open(dir, "best") };
  try {
    const { step } = (await writeFiles(go, "checkpoint", { run }, { signal }, (file, bytes) => {
      files[file === checkpointFile ? "checkpoint" : "best"].write(bytes);
    })) as { step: number };
    const now = [await files.best.finish(step), await files.checkpoint.finish(step)];
    for (const { file } of before) if (!now.includes(file)) await dir.removeEntry(file);
    return { step };
  } finally {
    await files.checkpoint.discard();
    await files.best.discard();
  }
}

/** Writing is a file of a checkpoint on its way, whose name is known when it is whole. */
class Writing {
  private constructor(
    readonly kind: Kind,
    readonly file: NewFile,
    readonly hash: Hash,
  ) {}

  static async open(dir: FileSystemDirectoryHandle, kind: Kind): Promise<Writing> {
    return new Writing(kind, await NewFile.open(dir, kind), await Hash.create());
  }

  write(bytes: Uint8Array): void {
    this.file.write(bytes);
    this.hash.update(bytes);
  }

  /** finish returns the file's name, "" where nothing was written. */
  async finish(step: number): Promise<string> {
    if (this.file.size === 0) return "";
    const name = `${this.kind}-${step}-${this.hash.digest()}`;
    await this.file.finish(name);
    return name;
  }

  discard(): Promise<void> {
    return this.file.discard();
  }
}
