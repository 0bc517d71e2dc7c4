// What the self-test found out is kept in OPFS, by adapter and browser.
import type { Adapter, Avoid, PowerPreference, SelfTestProgress, Verdict } from "../types.js";
import type { Operations } from "../protocol.js";
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

/** fileOf names the record of this adapter, browser and version; null without an adapter. */
async function fileOf(power?: PowerPreference): Promise<string | null> {
  const adapter = await adapterOf(power);
  if (!adapter) return null;
  const key = JSON.stringify([
    adapter.name,
    adapter.vendor,
    adapter.driver,
    navigator.userAgent,
    await browserVersion(),
    version,
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

async function load(power?: PowerPreference): Promise<Verdict | null> {
  try {
    const file = await fileOf(power);
    return file === null ? null : ((await readJSON(await folder(verdictFolder), file)) as Verdict | null);
  } catch {
    return null; // a browser without OPFS keeps nothing
  }
}

/** verdictFor is what must be avoided here, as far as the self-test has found out. */
export async function verdictFor(power?: PowerPreference): Promise<Avoid | undefined> {
  return (await load(power))?.avoid;
}

/** selfTest is the kept verdict, or examines the device and keeps what it finds. */
export async function selfTest(
  engine: Engine,
  { force, ...params }: Operations["selfTest"]["params"],
  signal: AbortSignal,
  tell: (progress: SelfTestProgress) => void,
): Promise<{ verdict: Verdict; cached: boolean }> {
  const kept = await load(params.powerPreference);
  if (kept && !force && !(params.full && kept.brief)) return { verdict: kept, cached: true };
  // What all cases have shown is not forgotten for what a few show.
  const full = params.full || (kept !== null && !kept.brief);
  const verdict = (await engine.call(
    "examine",
    { ...params, full },
    { signal, tell: tell as (event: unknown) => void },
  )) as Verdict;
  try {
    const file = await fileOf(params.powerPreference);
    if (file) await writeJSON(await folder(verdictFolder), file, verdict);
  } catch {
    // The verdict holds for this time.
  }
  return { verdict, cached: false };
}
