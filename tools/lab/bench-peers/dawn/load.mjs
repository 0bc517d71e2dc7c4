// Measures what loading a model takes in Node, by phases, without a GPU: on Dawn's null
// backend. A GPU's own time, and what its driver takes to compile, come on top.
//
//   node load.mjs --model FILE.gguf [--context N] [--rounds N] [--dist FOLDER] [--against FOLDER] [--json FILE]
//
// The package has to be built (make wasm). --against is another build of it, which
// takes turns with it; each load is in a process of its own. One buffer stands for
// all weights, as the null backend has 512 MB; so the context has to be short.
// "start" is until the header has been read and the GPU's memory planned.
import { fork } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { timed } from "../../../../bindings/wasm/npm/bench/phases.mjs";

const text = { type: "string" };
const { values: asked } = parseArgs({
  options: {
    model: text,
    context: { ...text, default: "300" },
    rounds: { ...text, default: "5" },
    against: text,
    json: text,
    serve: { type: "boolean" },
    dist: { ...text, default: join(import.meta.dirname, "../../../../bindings/wasm/npm/dist") },
  },
});

// standIn lets one buffer be all that is large, but what weights are uploaded through,
// until load says that it is over.
function standIn() {
  const large = 1 << 20,
    most = 128 << 20,
    { createBuffer } = GPUDevice.prototype,
    { destroy } = GPUBuffer.prototype;
  let weights,
    loading = true;
  GPUDevice.prototype.createBuffer = function (descriptor) {
    const { label, size, usage } = descriptor;
    if (
      !loading ||
      size < large ||
      size > most ||
      label === "upload" ||
      usage & (GPUBufferUsage.MAP_READ | GPUBufferUsage.MAP_WRITE)
    )
      return createBuffer.call(this, descriptor);
    return (weights ??= createBuffer.call(this, { ...descriptor, label: "weights", size: most }));
  };
  GPUBuffer.prototype.destroy = function () {
    if (this !== weights) destroy.call(this);
  };
  return () => {
    loading = false;
  };
}

// serve loads once, and tells its parent what that took.
async function serve() {
  const [{ inProcess, store }, { hostNull }] = await Promise.all([import("./host.mjs"), import("./null.mjs")]);
  hostNull();
  const loaded = standIn(),
    dist = pathToFileURL(resolve(asked.dist) + "/");
  const worker = await inProcess(dist);
  const { Model } = await import(new URL("index.js", dist));
  const cpu = {};
  let before = process.cpuUsage();
  const { ms, phases } = await timed(
    (onProgress) =>
      Model.loadTextOnly(
        { opfs: store(resolve(asked.model)) },
        {
          device: "gpu",
          context: Number(asked.context),
          worker,
          onProgress(progress) {
            if (progress.phase === "kernels") loaded();
            onProgress(progress);
          },
        },
      ),
    {
      left(phase) {
        const { user, system } = process.cpuUsage(before);
        cpu[phase] = (cpu[phase] ?? 0) + (user + system) / 1000;
        before = process.cpuUsage();
      },
    },
  );
  process.send({ ms, phases, cpu }, () => process.exit(0));
}

const run = (dist) =>
  new Promise((done, failed) => {
    const child = fork(import.meta.filename, [
      "--serve",
      "--dist",
      dist,
      "--model",
      asked.model,
      "--context",
      asked.context,
    ]);
    child.once("message", done);
    child.once("exit", (code) => failed(new Error(`${dist} ended with code ${code}`)));
  });

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

async function main() {
  if (!asked.model) throw new Error("--model names a file, such as lab synth --shape e2b --mix llama.cpp writes");
  const builds = [asked.dist, ...(asked.against ? [asked.against] : [])].map((dist) => ({ dist, loads: [] }));
  for (let round = 0; round < Number(asked.rounds); round++) {
    for (const build of builds) build.loads.push(await run(build.dist));
  }
  if (asked.json) await writeFile(asked.json, JSON.stringify(builds, null, 2) + "\n");
  for (const { dist, loads } of builds) {
    const time = (of) => median(loads.map(of));
    const line = ["start", "header", "weights", "kernels"].map(
      (phase) =>
        `${phase} ${time(({ phases }) => phases[phase] ?? 0).toFixed(0)} ` +
        `(${time(({ cpu }) => cpu[phase] ?? 0).toFixed(0)})`,
    );
    console.log(
      `${dist}: ${(time(({ ms }) => ms) / 1000).toFixed(2)} s; ms by the clock, and of CPU time: ${line.join(", ")}`,
    );
  }
}

(asked.serve ? serve() : main().then(() => process.exit(0))).catch((error) => {
  console.error(`load: ${error.message}`);
  process.exit(1);
});
