// What the self-test found out is kept in OPFS, by adapter and browser.
import type { Adapter, Avoid, SelfTestProgress, Verdict } from "../types.js";
import { version } from "../version.js";
import type { Engine } from "./engine.js";
import { folder, readJSON, writeJSON } from "./opfs.js";

const verdictFolder = "verdicts";

/** adapterOf names the adapter that models are computed on. */
export async function adapterOf(): Promise<Adapter | null> {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" }).catch(() => null);
  if (!adapter) return null;
  const { vendor, architecture, device, description } = adapter.info;
  return { name: description || device || [vendor, architecture].filter(Boolean).join(" "), vendor, driver: architecture, backend: "WebGPU", kind: "unknown" };
}

/** fileOf names the record of this adapter, browser and version; null without an adapter. */
async function fileOf(): Promise<string | null> {
  const adapter = await adapterOf();
  if (!adapter) return null;
  const key = JSON.stringify([adapter.name, adapter.vendor, adapter.driver, navigator.userAgent, version]);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return `${Array.from(new Uint8Array(hash, 0, 8), (b) => b.toString(16).padStart(2, "0")).join("")}.json`;
}

async function load(): Promise<Verdict | null> {
  try {
    const file = await fileOf();
    return file === null ? null : await readJSON(await folder(verdictFolder), file) as Verdict | null;
  } catch {
    return null; // a browser without OPFS keeps nothing
  }
}

/** verdictFor is what must be avoided here, as far as the self-test has found out. */
export async function verdictFor(): Promise<Avoid | undefined> { return (await load())?.avoid; }

/** selfTest is the kept verdict, or examines the device and keeps what it finds. */
export async function selfTest(
  engine: Engine, { version: of, force }: { version: string; force: boolean }, signal: AbortSignal, tell: (progress: SelfTestProgress) => void,
): Promise<{ verdict: Verdict; cached: boolean }> {
  const kept = force ? null : await load();
  if (kept) return { verdict: kept, cached: true };
  const verdict = await engine.call("examine", { version: of }, { signal, tell: tell as (event: unknown) => void }) as Verdict;
  try {
    const file = await fileOf();
    if (file) await writeJSON(await folder(verdictFolder), file, verdict);
  } catch {
    // The verdict holds for this time.
  }
  return { verdict, cached: false };
}
