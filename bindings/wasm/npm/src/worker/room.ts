import { GemwireError } from "../error.js";
import type { StorageEstimate } from "../types.js";

// Room that must stay beside a model, in bytes: browsers need some themselves.
const spare = 16 << 20;

export async function estimate(): Promise<StorageEstimate> {
  const { usage = 0, quota = 0 } = await navigator.storage.estimate();
  return { usage, quota, persisted: (await navigator.storage.persisted?.()) ?? false };
}

/** checkRoom refuses what the browser's storage has no room for; freed bytes are about to be given back. */
export async function checkRoom(needed: number, freed = 0): Promise<void> {
  const { usage, quota } = await estimate();
  const free = quota - usage + Math.max(0, freed);
  if (quota === 0 || needed + spare <= free) return;
  throw new GemwireError(
    "quota",
    `${megabytes(needed)} are needed, and the browser gives this page ${megabytes(free)} more`,
  );
}

export const full = (cause?: unknown, what = ""): GemwireError =>
  new GemwireError("quota", `the browser's storage is full${what && `: ${what}`}`, { cause });

export const megabytes = (n: number): string => `${Math.max(0, Math.round(n / 1e6)).toLocaleString("en")} MB`;
