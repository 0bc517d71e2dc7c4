// What is found out about kernels is kept in OPFS, by adapter, browser and the kernels' text.
import type { Adapter, PowerPreference, SelfTestProgress, Verdict } from "../types.js";
import type { Notice, Operations } from "../protocol.js";
import { version } from "../version.js";
import type { Engine } from "./engine.js";
import { folder, readJSON, writeJSON } from "./opfs.js";

const verdictFolder = "verdicts";

/** adapterOf names the adapter that models are computed on. */
export async function adapterOf(powerPreference: PowerPreference = "high-performance"): Promise<Adapter | null> {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference }).catch(() => null);
  if (!adapter) return null;
  const { vendor, architecture, device, description } = adapter.info;
  return {
    name: description || device || [vendor, architecture].filter(Boolean).join(" "),
    vendor,
    driver: architecture,
    backend: "WebGPU",
    kind: "unknown",
  };
}

/** fileOf names the record of this adapter, browser, version and kernels; null without an adapter. */
async function fileOf(kernels: string, power?: PowerPreference): Promise<string | null> {
  const adapter = await adapterOf(power);
  if (!adapter) return null;
  const key = JSON.stringify([
    adapter.name,
    adapter.vendor,
    adapter.driver,
    navigator.userAgent,
    await browserVersion(),
    version,
    kernels,
  ]);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return `${Array.from(new Uint8Array(hash, 0, 8), (b) => b.toString(16).padStart(2, "0")).join("")}.json`;
}

// browserVersion is what the user agent's text leaves out: all but the first number.
async function browserVersion(): Promise<string> {
  const agent = (
    navigator as {
      userAgentData?: {
        getHighEntropyValues(hints: string[]): Promise<{ fullVersionList?: { brand: string; version: string }[] }>;
      };
    }
  ).userAgentData;
  const { fullVersionList = [] } = (await agent?.getHighEntropyValues(["fullVersionList"]).catch(() => null)) ?? {};
  return fullVersionList
    .map(({ brand, version }) => `${brand} ${version}`)
    .sort()
    .join(", ");
}

/** verdictFor is what is known of the adapter here; null for nothing. */
export async function verdictFor({ kernels }: Engine, power?: PowerPreference): Promise<Verdict | null> {
  try {
    const file = await fileOf(kernels, power);
    return file === null ? null : ((await readJSON(await folder(verdictFolder), file)) as Verdict | null);
  } catch {
    return null; // a browser without OPFS keeps nothing
  }
}

let kept: Promise<void> = Promise.resolve();

/** keepVerdict keeps what Go has found out, one after the other. */
export function keepVerdict(kernels: string, { verdict, powerPreference }: Notice): void {
  kept = kept.then(() => write(kernels, verdict!, powerPreference));
}

/** verdictsKept waits until all is written. */
export const verdictsKept = (): Promise<void> => kept;

async function write(kernels: string, verdict: Verdict, power?: PowerPreference): Promise<void> {
  try {
    const file = await fileOf(kernels, power);
    if (file) await writeJSON(await folder(verdictFolder), file, { ...verdict, version });
  } catch {
    // It holds for as long as this worker lives, and is found out again by the next.
  }
}

/** selfTest is the kept verdict, or examines the device and keeps what it finds. */
export async function selfTest(
  engine: Engine,
  { force, ...params }: Operations["selfTest"]["params"],
  signal: AbortSignal,
  tell: (progress: SelfTestProgress) => void,
): Promise<{ verdict: Verdict; cached: boolean }> {
  const kept = await verdictFor(engine, params.powerPreference);
  // A model's opening examines what the model takes, and lists no ops.
  const tested = Boolean(kept?.ops?.length);
  if (kept && tested && !force && !(params.full && kept.brief)) return { verdict: kept, cached: true };
  // What all cases have shown is not forgotten for what a few show.
  const full = params.full || (tested && !kept!.brief);
  const verdict = (await engine.call(
    "examine",
    { ...params, full },
    { signal, tell: tell as (event: unknown) => void },
  )) as Verdict;
  await write(engine.kernels, verdict, params.powerPreference);
  return { verdict, cached: false };
}
