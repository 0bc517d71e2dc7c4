// What a model does in a tab: how long it loads, and how fast it reads and writes.
//
//   node bench/model.mjs [--url] [--loads N] [--repeats N] [--prompt-tokens N] [--tokens N] [--context N] [--json FILE]
//                        FILE.gguf
//
// The file is downloaded to OPFS from a server on this machine and loaded from there by
// the package's worker, as often as --loads says; with --url it is loaded from the server
// instead, in ranges. Then the model answers a prompt of about so many tokens, each time
// anew: one answer warms up, and --repeats count. Nothing is guessed ahead. Shown are
// medians, and the least and the most; --json keeps all of it. What each load and answer
// took comes at once, on the standard error.
//
// GEMWIRE_REAL_GPU=1 takes the machine's GPU instead of SwiftShader.
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { launchWith } from "../../browsertest/chromium.mjs";
import { serve } from "../../browsertest/server.mjs";

const npm = join(import.meta.dirname, "..");
const {
  values,
  positionals: [file],
} = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: "boolean", default: false },
    loads: { type: "string", default: "3" },
    repeats: { type: "string", default: "5" },
    "prompt-tokens": { type: "string", default: "512" },
    tokens: { type: "string", default: "128" },
    context: { type: "string", default: "4096" },
    json: { type: "string" },
  },
});
if (!file) throw new Error("which model? node bench/model.mjs FILE.gguf");
const folder = await mkdtemp(join(tmpdir(), "gemwire-model-"));
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
  await page.exposeFunction("tell", (line) => console.error(line));
  const done = await page.evaluate(run, {
    url: `/models/${encodeURIComponent(basename(file))}`,
    direct: values.url,
    loads: Number(values.loads),
    repeats: Number(values.repeats),
    promptTokens: Number(values["prompt-tokens"]),
    tokens: Number(values.tokens),
    context: Number(values.context),
  });
  const { size } = await stat(file);
  report(size, done);
  if (values.json)
    await writeFile(
      values.json,
      `${JSON.stringify({ file: basename(file), size, asked: values, ...done }, null, 2)}\n`,
    );
} finally {
  await browser.close();
  await site.close();
  await rm(folder, { recursive: true });
}

// run is in the page.
async function run({ url, direct, loads, repeats, promptTokens, tokens, context }) {
  const { timed } = await import("/bench/phases.mjs");
  const begun = performance.now();
  if (!direct) await gemwire.store.download(url, { name: "large" });
  const downloadMs = performance.now() - begun;
  if (!direct) await tell(`downloaded in ${downloadMs.toFixed(0)} ms`);
  let model;
  const loaded = [];
  for (let i = 0; i < loads; i++) {
    await model?.close();
    const { model: opened, ...took } = await timed(
      (onProgress) => gemwire.Model.load(direct ? url : { opfs: "large" }, { device: "gpu", context, onProgress }),
      { first: "header" },
    );
    model = opened;
    loaded.push(took);
    await tell(`loaded in ${took.ms.toFixed(0)} ms`);
  }
  const sentence = "The ship left the harbor in the morning, and the gulls went with it. ";
  const ask = (times) => [{ role: "user", content: sentence.repeat(times) }];
  const [one, two] = [await model.countTokens(ask(1)), await model.countTokens(ask(2))];
  const prompt = ask(Math.max(1, Math.round((promptTokens - one) / (two - one)) + 1));
  const answers = [];
  for (let i = 0; i <= repeats; i++) {
    await model.reset();
    for await (const event of model.chat(prompt, { maxTokens: tokens, temperature: 0, drafts: -1 })) {
      if (event.type !== "done") continue;
      const { computedTokens, prefillMs, answerTokens, decodeMs } = event.usage;
      await tell(
        `${computedTokens} tokens read in ${prefillMs.toFixed(0)} ms, ${answerTokens} written in ` +
          `${decodeMs.toFixed(0)} ms`,
      );
      if (i > 0) answers.push(event.usage);
    }
  }
  const { plan: _, ...info } = model.info,
    memory = await model.memory();
  await model.close();
  if (!direct) await gemwire.store.delete("large");
  return { info, memory, downloadMs: direct ? undefined : downloadMs, loads: loaded, answers };
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b),
    middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function report(size, { info, memory, downloadMs, loads, answers }) {
  const range = (values, digits = 1) =>
    `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ` +
    `${Math.max(...values).toFixed(digits)})`;
  const has = Object.entries(info.features ?? {})
    .filter(([, value]) => value)
    .map(([name, value]) => (value === true ? name : `${name} ${JSON.stringify(value)}`));
  console.log(`${(size / 1e9).toFixed(2)} GB on ${info.deviceName}: ${has.join(", ")}`);
  if (downloadMs) console.log(`download  ${(downloadMs / 1000).toFixed(1)} s`);
  const names = [...new Set(loads.flatMap((load) => Object.keys(load.phases)))];
  const phases = names.map(
    (name) => `${name} ${median(loads.map((load) => (load.phases[name] ?? 0) / 1000)).toFixed(2)}`,
  );
  console.log(
    `load      ${range(
      loads.map((load) => load.ms / 1000),
      2,
    )} s: ${phases.join(", ")}`,
  );
  console.log(
    `prefill   ${range(answers.map((a) => (1000 * a.computedTokens) / a.prefillMs))} tokens a second, of ` +
      `${answers[0].computedTokens}`,
  );
  console.log(
    `decode    ${range(answers.map((a) => a.tokensPerSecond))} tokens a second, of ` +
      `${median(answers.map((a) => a.answerTokens))}`,
  );
  console.log(
    `memory    ${Object.entries(memory.gpu ?? {})
      .map(([purpose, bytes]) => `${purpose} ${(bytes / 1e6).toFixed(0)} MB`)
      .join(", ")} on the GPU`,
  );
}
