// How fast a model comes from OPFS to the GPU, beside a plain read of its file.
//
//   node bench/opfs.mjs [--layers N] [--rounds N] [--piece MiB] [--idle] [--cold] [--file] [--json FILE] [FILE.gguf]
//
// Without a file it makes one with lab synth, of E2B's sizes with so many
// layers (8 are 1.3 GB). By turns, in one worker: the file is read from beginning
// to end by a FileSystemSyncAccessHandle, in pieces of 8 MiB; and the model is
// loaded. Shown are medians, and of each turn
//   plain read     the whole file's bytes over the time
//   load's reads   the bytes that the load asked for, over the time within read()
//   weights        the file's bytes over the time in which weights are read and uploaded
//   load           the file's bytes over the time until the model can answer
// and how long the worker and the GPU's process computed, where /proc tells. --json
// keeps every turn.
//
// GEMWIRE_REAL_GPU=1 takes the machine's GPU instead of SwiftShader. --idle leaves out
// what the GPU would compute and keep: what is left is what a GPU that takes no time
// would leave. --cold has the system forget the file's pages before each plain read and
// each load, as on the first visit of a day; it is for Linux. --file loads the same file as
// one that the user picked: a Blob, of whose reads nothing is told.
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { launchWith } from "../../browsertest/chromium.mjs";
import { serve } from "../../browsertest/server.mjs";
import { cpuTime } from "./cpu_time.mjs";

const npm = join(import.meta.dirname, "..");
const {
  values,
  positionals: [given],
} = parseArgs({
  allowPositionals: true,
  options: {
    layers: { type: "string", default: "8" },
    rounds: { type: "string", default: "5" },
    piece: { type: "string", default: "8" },
    mix: { type: "string", default: "ollama" },
    idle: { type: "boolean", default: false },
    cold: { type: "boolean", default: false },
    json: { type: "string" },
    file: { type: "boolean", default: false },
  },
});
const folder = await mkdtemp(join(tmpdir(), "gemwire-opfs-"));
const file = given ?? join(folder, "e2b.gguf");
if (!given) {
  execFileSync(
    "go",
    [
      "run",
      "./tools/lab/cmd/lab",
      "synth",
      "--shape",
      "e2b",
      "--mix",
      values.mix,
      "--layers",
      values.layers,
      "-o",
      file,
    ],
    { cwd: join(npm, "../../.."), stdio: "inherit" },
  );
}
const site = await serve({
  "/": join(npm, "test/page"),
  "/dist": join(npm, "dist"),
  "/bench": import.meta.dirname,
  "/models": dirname(file),
});
const browser = await launchWith(join(folder, "profile"));
try {
  const page = await browser.newPage();
  await page.goto(`${site.url}/index.html`);
  await page.waitForFunction(() => globalThis.gemwire);
  await page.exposeFunction("cpuTime", () => cpuTime(folder));
  await page.exposeFunction("settle", () => values.cold && forget(join(folder, "profile")));
  await page.evaluate((url) => gemwire.store.download(url, { name: "large" }), `/models/${basename(file)}`);
  const done = await page.evaluate(run, {
    rounds: Number(values.rounds),
    piece: Number(values.piece) << 20,
    idle: values.idle,
    file: values.file,
  });
  report(done);
  if (values.json) await writeFile(values.json, `${JSON.stringify({ asked: values, ...done }, null, 2)}\n`);
} finally {
  await browser.close();
  await site.close();
  await rm(folder, { recursive: true });
}

// forget drops large files from the system's page cache, once they are on the disk, and
// waits: a virtual machine gives free memory back after a while, and takes it anew with
// the first byte that is read into it.
async function forget(profile) {
  for (const name of await readdir(profile, { recursive: true })) {
    const path = join(profile, name),
      info = await stat(path).catch(() => null);
    if (!info?.isFile() || info.size < 64 << 20) continue;
    execFileSync("sync", ["--data", path]);
    execFileSync("dd", [`if=${path}`, "iflag=nocache", "count=0", "status=none"]);
  }
  await setTimeout(4000);
}

// run is in the page. The first round warms up.
async function run({ rounds, piece, idle, file }) {
  const { timed } = await import("/bench/phases.mjs");
  const worker = new Worker(`/bench/opfs_worker.js${idle ? "?idle" : ""}`, { type: "module" });
  const hear = (name) =>
    new Promise((resolve, reject) => {
      const listen = ({ data }) => {
        if (!(name in data)) return;
        worker.removeEventListener("message", listen);
        resolve(data[name]);
      };
      worker.addEventListener("message", listen);
      worker.addEventListener("error", (event) => reject(new Error(event.message)), { once: true });
    });
  const ask = (question) => {
    const answer = hear(Object.keys(question)[0]);
    worker.postMessage(question);
    return answer;
  };
  await hear("ready");
  let source = { opfs: "large" };
  if (file) {
    const models = await (
      await (await navigator.storage.getDirectory()).getDirectoryHandle("gemwire")
    ).getDirectoryHandle("models");
    source = await (await models.getFileHandle("large")).getFile();
  }
  const turns = [];
  let adapter;
  for (let round = 0; round <= rounds; round++) {
    await settle();
    const cpu = { start: await cpuTime() };
    const plain = await ask({ plain: piece });
    await settle();
    cpu.plain = await cpuTime();
    const before = await ask({ count: true });
    const { model, ms, phases } = await timed(
      (onProgress) => gemwire.Model.load(source, { device: "gpu", worker, context: 512, onProgress }),
      {
        first: "header",
        left(phase) {
          cpu[phase] = cpuTime();
        },
      },
    );
    const after = await ask({ count: true });
    adapter = model.info.deviceName;
    await model.close();
    const clock = Object.fromEntries(Object.keys(after).map((key) => [key, after[key] - before[key]]));
    for (const name of Object.keys(cpu)) cpu[name] = await cpu[name];
    if (round > 0) turns.push({ plain, clock, ms, phases, cpu });
  }
  return { adapter, turns };
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b),
    middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function report({ adapter, turns }) {
  const size = turns[0].plain.bytes;
  console.log(
    `${(size / 1e9).toFixed(2)} GB on ${adapter}, ` +
      `${values.cold ? "not in the page cache" : "in the page cache"}, ${turns.length} turns, ` +
      `${turns[0].clock.reads} reads a load`,
  );
  const rate = (bytes, ms) => bytes / ms / 1000; // MB/s
  const lines = {
    "plain read": (t) => rate(t.plain.bytes, t.plain.ms),
    ...(!values.file && { "load's reads": (t) => rate(t.clock.readBytes, t.clock.readMs) }),
    weights: (t) => rate(size, t.phases.weights),
    load: (t) => rate(size, t.ms),
  };
  console.log(`${"".padEnd(16)}${"MB/s".padStart(26)}${"of a plain read".padStart(24)}`);
  for (const [name, of] of Object.entries(lines)) {
    const rates = turns.map(of),
      parts = turns.map((t) => (100 * of(t)) / lines["plain read"](t));
    const range = (values, unit) =>
      `${median(values).toFixed(0)}${unit} (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`;
    console.log(`${name.padEnd(16)}${range(rates, "").padStart(26)}${range(parts, " %").padStart(24)}`);
  }
  const spent = (from, to, who) => median(turns.map(({ cpu }) => cpu[to][who] - cpu[from][who])).toFixed(0);
  console.log(
    `ms of CPU time: plain read ${spent("start", "plain", "worker")}, header ` +
      `${spent("plain", "header", "worker")}, weights ${spent("header", "weights", "worker")} and ` +
      `${spent("header", "weights", "gpu")} in the GPU's process`,
  );
  const names = [...new Set(turns.flatMap((t) => Object.keys(t.phases)))];
  console.log(
    "seconds of the load by phase: " +
      names.map((name) => `${name} ${(median(turns.map((t) => t.phases[name] ?? 0)) / 1000).toFixed(2)}`).join(", "),
  );
}
