// What a training step of the built-in model takes in a tab: the processors' time of
// all of the browser's processes, which other programs on the machine do not lengthen
// as they do the wall clock's. Linux alone.
//
//   node bench/training.mjs [--device cpu|gpu] [--examples N] [--steps N] [--rank N]
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "../../browsertest/chromium.mjs";
import { serve } from "../../browsertest/server.mjs";

const npm = join(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    device: { type: "string", default: "cpu" },
    examples: { type: "string", default: "8" },
    steps: { type: "string", default: "10" },
    rank: { type: "string", default: "16" },
  },
});
const steps = Number(values.steps);
const ticksPerSecond = 100; // of /proc, everywhere

// processorSeconds is what this program's descendants have used.
async function processorSeconds() {
  const all = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const [, parent, , , , , , , , , , user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    if (stat) all.push({ pid: Number(pid), parent, ticks: user + system });
  }
  const ours = new Set([process.pid]);
  for (let before = 0; before < ours.size;) {
    before = ours.size;
    for (const { pid, parent } of all) if (ours.has(parent)) ours.add(pid);
  }
  return (
    all.filter(({ pid }) => ours.has(pid) && pid !== process.pid).reduce((sum, { ticks }) => sum + ticks, 0) /
    ticksPerSecond
  );
}

const site = await serve({ "/": join(npm, "test/page"), "/dist": join(npm, "dist") });
const browser = await launch();
try {
  const page = await browser.newPage();
  await page.goto(`${site.url}/index.html`);
  await page.waitForFunction(() => globalThis.gemwire);
  await page.evaluate(async ({ device, examples, rank }) => {
    const model = await gemwire.Model.load(gemwire.nano, { device });
    const data = Array(Number(examples)).fill({ prompt: "What color is the boat?", completion: "The boat is purple." });
    const session = await gemwire.TrainingSession.prepare(model, data, {
      rank: Number(rank),
      steps: 100_000,
      learningRate: 1e-3,
      heldOut: 0,
    });
    globalThis.run = session[Symbol.asyncIterator]();
    for (let i = 0; i < 2; i++) await run.next(); // kernels are compiled now
  }, values);
  const used = await processorSeconds(),
    begun = performance.now();
  const last = await page.evaluate(async (steps) => {
    let event;
    for (let i = 0; i < steps; i++) event = (await run.next()).value;
    return event;
  }, steps);
  const seconds = (await processorSeconds()) - used,
    wall = performance.now() - begun;
  console.log(
    `${values.device}, ${last.tokens} tokens a step: ${((1000 * seconds) / steps).toFixed(0)} ms of the ` +
      `processors, ${(wall / steps).toFixed(0)} ms by the clock, ${(last.memoryBytes / 1e6).toFixed(0)} MB`,
  );
} finally {
  await browser.close();
  await site.close();
}
