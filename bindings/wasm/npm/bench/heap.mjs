// What memory a tab takes while a large model is downloaded to OPFS, loaded from
// there and run.
//
//   node bench/heap.mjs [--url] [--tokens N] [--context N] [FILE.gguf]
//
// With --url it is loaded from the server instead, in ranges.
// Without a file it makes one of 2 GB with lab synth. Shown is the most that
// was seen in each phase, in MB, sampled several times a second:
//   Go heap     Go's HeapAlloc: live objects and garbage not yet collected
//   Go in all   what Go has taken of WebAssembly's memory, which never shrinks
//   JS heap     objects of the page and the worker, as V8 counts them
//   buffers     ArrayBuffers of both, without WebAssembly's memory
//   together    the last three
//   process     the resident size of the tab's process
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { launchWith } from "../../browsertest/chromium.mjs";
import { serve } from "../../browsertest/server.mjs";

const npm = join(import.meta.dirname, "..");
const {
  values,
  positionals: [given],
} = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: "boolean", default: false },
    tokens: { type: "string", default: "4" },
    context: { type: "string", default: "1024" },
  },
});
const folder = await mkdtemp(join(tmpdir(), "gemwire-heap-"));
const file = given ?? join(folder, "e2b-20-layers.gguf");
if (!given) {
  execFileSync(
    "go",
    ["run", "./tools/lab/cmd/lab", "synth", "--shape", "e2b", "--mix", "llama.cpp", "--layers", "20", "-o", file],
    { cwd: join(npm, "../../.."), stdio: "inherit" },
  );
}

const site = await serve({ "/": join(npm, "test/page"), "/dist": join(npm, "dist"), "/models": dirname(file) });
const browser = await launchWith(join(folder, "profile"));
const most = new Map();
let phase = "start",
  sampling = true;
try {
  const page = await browser.newPage();
  await page.goto(`${site.url}/index.html`);
  await page.waitForFunction(() => globalThis.gemwire);
  await page.exposeFunction("entered", (name) => {
    phase = name;
  });
  const sampler = sample(page, await targets(page));
  const done = await page.evaluate(run, {
    url: `/models/${basename(file)}`,
    tokens: Number(values.tokens),
    context: Number(values.context),
    direct: values.url,
  });
  sampling = false;
  await sampler;
  report((await stat(file)).size, done);
} finally {
  sampling = false;
  await browser.close();
  await site.close();
  await rm(folder, { recursive: true });
}

// run is in the page: it keeps the model in OPFS, loads it and asks it something.
async function run({ url, tokens, context, direct }) {
  const begun = performance.now();
  await entered("download");
  if (!direct) await gemwire.store.download(url, { name: "large" });
  // A worker of the page's own can be asked for Go's heap while a model loads.
  const worker = new Worker(new URL("/dist/worker.js", location.href), { type: "module" });
  globalThis.memory = () =>
    new Promise((resolve) => {
      const id = 1e9 + Math.random();
      const hear = ({ data }) => {
        if (data.id !== id) return;
        worker.removeEventListener("message", hear);
        resolve(data.result ?? null);
      };
      worker.addEventListener("message", hear);
      worker.postMessage({ id, op: "memory", params: {} });
    });
  await entered("load");
  const downloaded = performance.now();
  const model = await gemwire.Model.load(direct ? url : { opfs: "large" }, { device: "gpu", worker, context });
  const loaded = performance.now();
  let usage;
  await entered("prefill");
  for await (const event of model.chat([{ role: "user", content: "Tell me something about the sea." }], {
    maxTokens: tokens,
    temperature: 0,
  })) {
    if (event.type === "prefill" && event.done === event.total) void entered("decode");
    if (event.type === "done") usage = event.usage;
  }
  const { gpu } = await model.memory();
  const adapter = model.info.deviceName;
  await model.close();
  worker.terminate();
  await gemwire.store.delete("large");
  return {
    usage,
    gpu,
    adapter,
    seconds: { download: (downloaded - begun) / 1000, load: (loaded - downloaded) / 1000 },
  };
}

// targets counts the JavaScript heaps of the page and of its workers, through
// the browser's own protocol: a worker cannot measure itself.
async function targets(page) {
  const cdp = await page.context().newCDPSession(page);
  const workers = new Map();
  const waiting = new Map();
  let last = 0;
  cdp.on("Target.attachedToTarget", ({ sessionId }) => workers.set(sessionId, { usedSize: 0, backingStorageSize: 0 }));
  cdp.on("Target.detachedFromTarget", ({ sessionId }) => workers.delete(sessionId));
  cdp.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result } = JSON.parse(message);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  await cdp.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  const ask = (sessionId) =>
    new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      setTimeout(resolve, 2000); // a worker that is busy or gone
      cdp
        .send("Target.sendMessageToTarget", {
          sessionId,
          message: JSON.stringify({ id, method: "Runtime.getHeapUsage" }),
        })
        .catch(() => resolve());
    });
  return async () => {
    const all = [
      cdp.send("Runtime.getHeapUsage").catch(() => null),
      ...[...workers.keys()].map(async (id) => {
        const usage = await ask(id);
        if (usage && workers.has(id)) workers.set(id, usage);
        return workers.get(id);
      }),
    ];
    const sum = { heap: 0, buffers: 0 };
    for (const usage of await Promise.all(all)) {
      sum.heap += usage?.usedSize ?? 0;
      sum.buffers += usage?.backingStorageSize ?? 0;
    }
    return sum;
  };
}

// resident is the largest of the browser's renderer processes, which is the tab's.
async function resident() {
  let largest = 0;
  const pids = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes("--type=renderer"))
    .map((line) => line.trim().split(" ")[0]);
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    largest = Math.max(largest, 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0));
  }
  return largest;
}

async function sample(page, heaps) {
  while (sampling) {
    const during = phase;
    const go = page
      .evaluate(
        () => globalThis.memory && Promise.race([memory(), new Promise((resolve) => setTimeout(resolve, 1000, null))]),
      )
      .catch(() => null);
    const [js, memory, process] = await Promise.all([heaps(), go, resident()]);
    const seen = {
      goHeap: memory?.heap ?? 0,
      goAll: memory?.system ?? 0,
      jsHeap: js.heap,
      buffers: js.buffers,
      process,
      samples: 1,
    };
    const before = most.get(during) ?? { goHeap: 0, goAll: 0, jsHeap: 0, buffers: 0, process: 0, samples: 0 };
    for (const key of Object.keys(seen))
      before[key] = key === "samples" ? before[key] + 1 : Math.max(before[key], seen[key]);
    most.set(during, before);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function report(size, { usage, gpu, adapter, seconds }) {
  const mb = (n) => (n / 1e6).toFixed(0).padStart(9);
  console.log(
    `${(size / 1e9).toFixed(2)} GB on ${adapter}: downloaded in ${seconds.download.toFixed(0)} s, loaded in ` +
      `${seconds.load.toFixed(0)} s, ${usage.promptTokens} tokens read in ${(usage.prefillMs / 1000).toFixed(1)} ` +
      `s, ${usage.answerTokens} written at ${usage.tokensPerSecond.toFixed(2)} a second`,
  );
  console.log(
    `on the GPU: ${Object.entries(gpu)
      .map(([purpose, bytes]) => `${purpose} ${(bytes / 1e6).toFixed(0)} MB`)
      .join(", ")}`,
  );
  console.log("MB at most   Go heap Go in all   JS heap   buffers  together   process  samples");
  for (const [name, m] of most)
    console.log(
      `${name.padEnd(10)}${mb(m.goHeap)} ${mb(m.goAll)} ${mb(m.jsHeap)} ${mb(m.buffers)} ` +
        `${mb(m.goAll + m.jsHeap + m.buffers)} ${mb(m.process)} ${String(m.samples).padStart(8)}`,
    );
}
