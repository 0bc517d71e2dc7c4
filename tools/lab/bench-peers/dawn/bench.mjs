// Measures the npm package on Dawn in Node beside `gemwire bench`, which runs on
// wgpu, on the same GPU and file, by turns.
//
//   node bench.mjs [--model FILE.gguf] [--prompt-tokens N] [--decode-tokens N] [--context N] [--rounds N]
//                  [--adapter NAME] [--backend vulkan|metal|d3d12] [--gemwire FILE] [--dist FOLDER] [--json FILE]
//
// The package has to be built (make wasm), and gemwire (make build). --adapter is
// a part of the GPU's name, for both. Without a model it is the built-in one.
// The prompt is random text, of as many tokens as asked for, more or less: gemwire
// bench is given the numbers of tokens that the package counted. One answer of
// the package warms up, as the first run of each gemwire bench does.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs, promisify } from "node:util";
import { timed } from "../../../../bindings/wasm/npm/bench/phases.mjs";
import { host, inProcess, store } from "./host.mjs";

const root = join(import.meta.dirname, "../../../..");
const text = { type: "string" };
const { values: asked } = parseArgs({
  options: {
    model: { ...text, default: join(root, "gemma4/nano/nano.gguf") },
    "prompt-tokens": { ...text, default: "512" },
    "decode-tokens": { ...text, default: "128" },
    context: text,
    rounds: { ...text, default: "5" },
    adapter: text,
    backend: text,
    json: text,
    gemwire: { ...text, default: join(root, "bin/gemwire") },
    dist: { ...text, default: join(root, "bindings/wasm/npm/dist") },
  },
});
const whole = (name) => {
  const n = Number(asked[name]);
  if (!Number.isInteger(n) || n < 1) throw new Error(`--${name} ${asked[name]}: expected a whole number of at least 1`);
  return n;
};

// start makes ready what loads the model on Dawn, by phases.
async function start(context) {
  const dist = pathToFileURL(resolve(asked.dist) + "/");
  if (!existsSync(new URL("worker.js", dist)))
    throw new Error(`${asked.dist} has no package; build it with make wasm, or name it with --dist`);
  host([
    ...(asked.backend ? [`backend=${asked.backend}`] : []),
    ...(asked.adapter ? [`adapter=${asked.adapter}`] : []),
  ]);
  const worker = await inProcess(dist);
  const { Model } = await import(new URL("index.js", dist));
  const opfs = store(resolve(asked.model));
  return () => timed((onProgress) => Model.loadTextOnly({ opfs }, { device: "gpu", context, worker, onProgress }));
}

// promptOf makes a text of about n tokens out of random ones.
async function promptOf(model, n) {
  const tokens = [];
  for (let state = 1n; tokens.length < n;) {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    tokens.push(600 + Number((state >> 33n) % 1400n)); // plain words, in the smallest vocabulary too
  }
  // What asks for a story seldom gets a short answer.
  return `${await model.detokenize(tokens)} Tell me a story.`;
}

// onDawn answers once, from an empty cache, greedily.
async function onDawn(model, content, maxTokens) {
  await model.reset();
  for await (const event of model.chat([{ role: "user", content }], {
    temperature: 0,
    maxTokens,
    maxThinkingTokens: 0,
    drafts: -1,
  })) {
    if (event.type === "done") return event.usage;
  }
  throw new Error("the answer has no end");
}

// onWGPU measures as many tokens with gemwire bench.
async function onWGPU(usage) {
  const flags = [
    "bench",
    resolve(asked.model),
    "--device",
    "gpu",
    "--json",
    "--repeats",
    "1",
    "--context",
    String(usage.promptTokens + usage.answerTokens + 8),
    "--prompt-tokens",
    String(usage.computedTokens),
    "--decode-tokens",
    String(Math.max(usage.answerTokens - 1, 1)),
  ];
  if (asked.adapter) flags.push("--adapter", asked.adapter);
  const { stdout } = await promisify(execFile)(asked.gemwire, flags, { maxBuffer: 1 << 24 });
  return JSON.parse(stdout);
}

function series(runs) {
  const sorted = runs.toSorted((a, b) => a - b),
    middle = sorted.length >> 1;
  return {
    median: sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2,
    min: sorted[0],
    max: sorted.at(-1),
    runs,
  };
}

// rates are of tokens a second, times of seconds: more is better, and less.
const rates = (dawn, wgpu) => ({
  dawn: series(dawn),
  wgpu: series(wgpu),
  ratio: series(dawn.map((rate, i) => rate / wgpu[i])),
});
const times = (dawn, wgpu) => ({
  dawn: series(dawn),
  wgpu: series(wgpu),
  ratio: series(wgpu.map((time) => time / dawn[0])),
});

async function main() {
  const rounds = whole("rounds"),
    promptTokens = whole("prompt-tokens"),
    decodeTokens = whole("decode-tokens");
  const context = asked.context ? whole("context") : promptTokens + Math.ceil(promptTokens / 4) + decodeTokens + 256;
  const load = await start(context);
  const { model, ...first } = await load();
  const content = await promptOf(model, promptTokens);
  const tell = (line) => console.error(line);
  tell(`${model.info.name} on ${model.info.deviceName} by Dawn: loaded in ${(first.ms / 1000).toFixed(1)} s`);
  await onDawn(model, content, decodeTokens);
  const dawn = [],
    wgpu = [];
  for (let round = 1; round <= rounds; round++) {
    dawn.push(await onDawn(model, content, decodeTokens));
    wgpu.push(await onWGPU(dawn.at(-1)));
    tell(
      `round ${round} of ${rounds}: Dawn ${dawn.at(-1).tokensPerSecond.toFixed(1)} tokens/s, wgpu ` +
        `${wgpu.at(-1).decode.tokens_per_second.median.toFixed(1)}`,
    );
  }
  const { size } = await stat(asked.model);
  const report = {
    model: model.info.name,
    file_bytes: size,
    device: model.info.deviceName,
    features: model.info.features,
    native_device: wgpu[0].device,
    native_library: wgpu[0].library,
    prompt_tokens: dawn[0].computedTokens,
    decode_tokens: dawn[0].answerTokens - 1,
    rounds,
    heap_bytes: (await model.memory()).heap,
    prefill: rates(
      dawn.map((u) => u.computedTokens / (u.prefillMs / 1000)),
      wgpu.map((r) => r.prefill.tokens_per_second.median),
    ),
    decode: rates(
      dawn.map((u) => u.tokensPerSecond),
      wgpu.map((r) => r.decode.tokens_per_second.median),
    ),
  };
  await model.close();
  const { model: second, ...again } = await load();
  await second.close();
  const native = wgpu.map(({ load }) => load.seconds + load.session_seconds);
  report.load = { ...times([first.ms / 1000], native), phases: first.phases };
  report.load_again = { ...times([again.ms / 1000], native), phases: again.phases };
  if (asked.json) await writeFile(asked.json, JSON.stringify(report, null, 2) + "\n");
  print(report);
}

function print(r) {
  const figure = (v) => (v >= 100 ? v.toFixed(0) : v.toPrecision(3));
  const range = ({ median, min, max, runs }) =>
    `${figure(median)}${runs.length > 1 ? ` (${figure(min)} to ${figure(max)})` : ""}`;
  console.log(
    `model   ${r.model}, ${(r.file_bytes / 1e6).toFixed(0)} MB\ndawn    ${r.device}\nwgpu    ` +
      `${r.native_device}, ${r.native_library}`,
  );
  console.log(`heap    ${(r.heap_bytes / 1e6).toFixed(0)} MB of Go's, on Dawn\n`);
  const line = (...cells) => console.log(cells.map((cell, i) => (i ? cell.padStart(26) : cell.padEnd(24))).join(""));
  line("", "the package on Dawn", "gemwire on wgpu", "times as fast as wgpu");
  line("first load, s", range(r.load.dawn), range(r.load.wgpu), range(r.load.ratio));
  line("another load, s", range(r.load_again.dawn), range(r.load_again.wgpu), range(r.load_again.ratio));
  line(`prefill of ${r.prompt_tokens}, tokens/s`, range(r.prefill.dawn), range(r.prefill.wgpu), range(r.prefill.ratio));
  line(`decode ${r.decode_tokens}, tokens/s`, range(r.decode.dawn), range(r.decode.wgpu), range(r.decode.ratio));
  for (const [name, { phases }] of [
    ["first", r.load],
    ["another", r.load_again],
  ]) {
    console.log(
      `${name} load, s: ${Object.entries(phases)
        .map(([phase, ms]) => `${phase} ${(ms / 1000).toFixed(2)}`)
        .join(", ")}`,
    );
  }
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(`bench: ${error.message}${error.advice ? ` ${error.advice}` : ""}`);
    process.exit(1);
  },
);
