// How fast bytes come from OPFS to the GPU, by each way that there is to hand them
// over, beside a plain read: no model, no kernels, nothing re-laid.
//
//   node bench/handover.mjs [--size MiB] [--rounds N] [--ways "plain,write,mapped 2x8"] [--json FILE]
//
// By turns, in one worker of Chromium, a file of that size is read from beginning to
// end, and each piece is handed over. Shown are medians, and the least and the most: the
// file's bytes over the time until the GPU has them all; how much of it went to reading
// and to handing over; and for how long the worker and the GPU's process computed, where
// /proc tells. The ways stand in handover_worker.js; behind the name stand the MiB of a
// piece, 8 if nothing is said, and how many buffers take turns. GEMWIRE_REAL_GPU=1 takes
// the machine's GPU. --json keeps every turn.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launchWith } from "../../browsertest/chromium.mjs";
import { serve } from "../../browsertest/server.mjs";
import { cpuTime } from "./cpu_time.mjs";

const { values } = parseArgs({
  options: {
    size: { type: "string", default: "512" },
    rounds: { type: "string", default: "7" },
    ways: { type: "string", default: "plain,write,mapped 2x8,mapped 4x4,mapped 8x2,fresh,born" },
    json: { type: "string" },
  },
});
const folder = await mkdtemp(join(tmpdir(), "gemwire-handover-"));
const site = await serve({
  "/": join(import.meta.dirname, "../test/page"),
  "/dist": join(import.meta.dirname, "../dist"),
  "/bench": import.meta.dirname,
});
const browser = await launchWith(join(folder, "profile"));
try {
  const page = await browser.newPage();
  await page.exposeFunction("cpuTime", () => cpuTime(folder));
  await page.goto(`${site.url}/index.html`);
  const turns = await page.evaluate(run, {
    size: Number(values.size) << 20,
    rounds: Number(values.rounds),
    ways: values.ways.split(","),
  });
  report(turns);
  if (values.json) await writeFile(values.json, `${JSON.stringify({ asked: values, turns }, null, 2)}\n`);
} finally {
  await browser.close();
  await site.close();
  await rm(folder, { recursive: true });
}

// run is in the page. The first round warms up.
async function run({ size, rounds, ways }) {
  const name = "handover";
  const file = await (await navigator.storage.getDirectory()).getFileHandle(name, { create: true });
  const out = await file.createWritable();
  const bytes = new Uint8Array(8 << 20);
  for (let at = 0; at < size; at += bytes.length) {
    for (let i = 0; i < bytes.length; i += 1 << 16) crypto.getRandomValues(bytes.subarray(i, i + (1 << 16)));
    await out.write(bytes.subarray(0, Math.min(bytes.length, size - at)));
  }
  await out.close();
  const worker = new Worker("/bench/handover_worker.js", { type: "module" });
  const hear = () =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.failed ? reject(new Error(data.failed)) : resolve(data));
      worker.onerror = (event) => reject(new Error(event.message));
    });
  await hear();
  const turns = [];
  for (let round = 0; round <= rounds; round++) {
    const turn = {};
    for (const named of ways) {
      const [way, sizes = "8x1"] = named.split(" "),
        [piece, depth] = sizes.split("x");
      const before = await cpuTime(),
        answer = hear();
      worker.postMessage({ name, way, piece: Number(piece) * (1 << 20), depth: Number(depth) });
      turn[named] = (await answer).done;
      const after = await cpuTime();
      turn[named].worker = after.worker - before.worker;
      turn[named].gpu = after.gpu - before.gpu;
    }
    if (round > 0) turns.push(turn);
  }
  return turns;
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b),
    middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function report(turns) {
  const { adapter, size } = turns[0].plain;
  console.log(`${size >> 20} MiB on ${adapter}, ${turns.length} turns`);
  console.log(
    `${"".padEnd(14)}${"MB/s".padStart(24)}${"of a plain read".padStart(24)}` +
      `${"reading, ms".padStart(14)}${"handing, ms".padStart(14)}${"all, ms".padStart(10)}` +
      `${"worker's CPU".padStart(14)}${"GPU's".padStart(8)}`,
  );
  for (const way of Object.keys(turns[0])) {
    const range = (of, unit = "") => {
      const all = turns.map(of);
      return `${median(all).toFixed(0)}${unit} (${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)})`;
    };
    const ms = (name) => median(turns.map((t) => t[way][name])).toFixed(0);
    console.log(
      `${way.padEnd(14)}${range((t) => size / t[way].ms / 1000).padStart(24)}` +
        `${range((t) => (100 * t.plain.ms) / t[way].ms, " %").padStart(24)}` +
        `${ms("reading").padStart(14)}${ms("giving").padStart(14)}${ms("ms").padStart(10)}` +
        `${ms("worker").padStart(14)}${ms("gpu").padStart(8)}`,
    );
  }
}
