// Measures what a decoded token takes of the processor, in the thread that runs the
// package, without a GPU: on Dawn's null backend in Node.
//
//   node cpu.mjs --model FILE.gguf [--tokens N] [--rounds N] [--dist FOLDER] [--against FOLDER] [--json FILE] [--gaps]
//               [--gogc N]
//
// The package has to be built (make wasm). --against is another build of it, which
// takes turns with it. The model has to fit into 512 MB; what counts is how many
// dispatches its tokens take. It is the thread's own time that counts, on Linux;
// elsewhere the process's. The least of all turns is what the code takes; what is
// more, other programs on the machine made of it.
//
// With --gaps it measures the longest time between two tokens of an answer instead, of
// the thread's own too. --gogc is Go's GOGC: 1 has it collect garbage every few answers.
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const text = { type: "string" };
const { values: asked } = parseArgs({
  options: {
    model: text,
    tokens: { ...text, default: "128" },
    rounds: { ...text, default: "40" },
    against: text,
    json: text,
    gogc: text,
    gaps: { type: "boolean" },
    serve: { type: "boolean" },
    dist: { ...text, default: join(import.meta.dirname, "../../../../bindings/wasm/npm/dist") },
  },
});

// milliseconds is the thread's processor time so far.
function milliseconds() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e3;
  }
}

// serve answers with a model of its own each time the parent asks for it.
async function serve() {
  const [{ inProcess, store }, { hostNull }] = await Promise.all([import("./host.mjs"), import("./null.mjs")]);
  hostNull();
  const counted = count();
  const dist = pathToFileURL(resolve(asked.dist) + "/"),
    tokens = Number(asked.tokens);
  if (asked.gogc) await setGo({ GOGC: asked.gogc }, dist);
  const worker = await inProcess(dist);
  const gemwire = await import(new URL("index.js", dist));
  const model = await gemwire.Model.loadTextOnly(
    { opfs: store(resolve(asked.model)) },
    { device: "gpu", context: tokens + 128, worker },
  );
  const answer = async () => {
    await model.reset();
    let begun,
      last,
      longest = 0;
    for await (const { type, usage } of model.chat([{ role: "user", content: "Tell me a story." }], {
      temperature: 0,
      maxTokens: tokens,
      drafts: -1,
    })) {
      if (type === "text") begun ??= { cpu: milliseconds(), counts: { ...counted } };
      if (asked.gaps && type === "text") {
        const now = milliseconds();
        longest = Math.max(longest, now - (last ?? now));
        last = now;
      }
      if (type === "done" && asked.gaps) return { cpu: longest, counts: {} };
      if (type === "done") {
        const n = usage.answerTokens - 1;
        return {
          cpu: (milliseconds() - begun.cpu) / n,
          counts: Object.fromEntries(
            Object.entries(counted).map(([name, sum]) => [name, (sum - begun.counts[name]) / n]),
          ),
        };
      }
    }
    throw new Error("the answer has no end");
  };
  for (let i = 0; i < 3; i++) await answer(); // until the hot code is compiled
  process.on("message", async () => process.send(await answer()));
  process.send("ready");
}

// setGo sets variables of the environment that the Go program starts in.
async function setGo(variables, dist) {
  await import(new URL("worker.js", dist)); // which brings Go's loader
  const { Go } = globalThis;
  globalThis.Go = class extends Go {
    constructor() {
      super();
      this.env = variables;
    }
  };
}

// count counts the calls of each token that are few; a counter costs something itself.
function count() {
  const sums = { submits: 0, maps: 0 };
  const tally = (prototype, method, name) => {
    const call = prototype[method];
    prototype[method] = function (...args) {
      sums[name]++;
      return call.apply(this, args);
    };
  };
  tally(GPUQueue.prototype, "submit", "submits");
  tally(GPUBuffer.prototype, "mapAsync", "maps");
  return sums;
}

// start runs a build in a process of its own.
async function start(dist) {
  const child = fork(import.meta.filename, [
    "--serve",
    "--dist",
    dist,
    "--model",
    asked.model,
    "--tokens",
    asked.tokens,
    ...(asked.gaps ? ["--gaps"] : []),
    ...(asked.gogc ? ["--gogc", asked.gogc] : []),
  ]);
  let failed;
  const ended = new Promise((_, reject) => {
    failed = reject;
  });
  child.once("exit", (code) => failed(new Error(`${dist} ended with code ${code}`)));
  ended.catch(() => {}); // told to whoever waits for an answer
  const next = () => Promise.race([ended, new Promise((done) => child.once("message", done))]);
  await next();
  return {
    dist,
    runs: [],
    async turn() {
      const answered = next();
      child.send("answer");
      this.runs.push(await answered);
    },
    stop: () => child.kill(),
  };
}

function summary({ dist, runs }) {
  const sorted = runs.map(({ cpu }) => cpu).sort((a, b) => a - b);
  return {
    dist,
    ms: { least: sorted[0], median: sorted[sorted.length >> 1], most: sorted.at(-1) },
    ...runs.at(-1).counts,
  };
}

async function main() {
  if (!asked.model) throw new Error("--model names a file, such as lab synth --shape nano --layers 35 writes");
  const builds = [];
  for (const dist of [asked.dist, ...(asked.against ? [asked.against] : [])]) builds.push(await start(dist));
  for (let round = 0; round < Number(asked.rounds); round++) {
    for (const build of builds) await build.turn();
  }
  for (const build of builds) build.stop();
  const report = builds.map(summary);
  if (builds[1]) {
    const ratios = builds[0].runs.map(({ cpu }, i) => cpu / builds[1].runs[i].cpu).sort((a, b) => a - b);
    report[0].of = { least: report[0].ms.least / report[1].ms.least, median: ratios[ratios.length >> 1] };
  }
  if (asked.json) await writeFile(asked.json, JSON.stringify(report, null, 2) + "\n");
  for (const { dist, ms, submits, maps, of } of report) {
    if (asked.gaps) {
      console.log(
        `${dist}: the longest gap of an answer takes ${ms.median.toFixed(2)} ms of CPU in the median, ` +
          `${ms.least.toFixed(2)} at least, ${ms.most.toFixed(2)} at most`,
      );
      continue;
    }
    console.log(
      `${dist}: ${ms.least.toFixed(3)} ms of CPU a token at least, ${ms.median.toFixed(3)} in the median, ` +
        `${ms.most.toFixed(3)} at most; ${submits.toFixed(2)} submissions, ${maps.toFixed(2)} reads`,
    );
    if (of)
      console.log(
        `  ${of.least.toFixed(2)} of the other's least, ${of.median.toFixed(2)} of what the other took in the ` +
          "same turn",
      );
  }
}

(asked.serve ? serve() : main().then(() => process.exit(0))).catch((error) => {
  console.error(`cpu: ${error.message}`);
  process.exit(1);
});
