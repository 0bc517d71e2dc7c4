// Measures gemwire beside wllama (llama.cpp in WebAssembly) on one file, in one
// run and the same Chromium, in turns.
//
//   npm ci
//   node wllama.mjs [--model FILE.gguf] [--rounds 5] [--repeats 3] [--tokens 64] [--prompt TEXT] [--only NAMES]
//                   [--threads N] [--json FILE]
//
// Without --model it is the built-in one, without its towers, which llama.cpp
// wants in a file of their own. Each turn is a new page: it loads the model,
// answers once to warm up, then --repeats times. The browser computes WebGPU in
// software (SwiftShader), as it does where there is no GPU; GEMWIRE_REAL_GPU=1
// leaves that to it. wllama by itself takes half the cores for its threads, where
// the page is isolated; --threads adds one with so many. Build the package before: make wasm.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "../../../bindings/wasm/browsertest/chromium.mjs";
import { serve } from "../../../bindings/wasm/browsertest/server.mjs";
import { inTurns, report } from "./report.mjs";

const here = import.meta.dirname;
const npm = resolve(here, "../../../bindings/wasm/npm");

const { values: asked } = parseArgs({
  options: {
    model: { type: "string" },
    prompt: { type: "string", default: "Tell me a short story about a brave cat named Ada." },
    only: { type: "string" },
    threads: { type: "string" },
    json: { type: "string" },
    rounds: { type: "string", default: "5" },
    repeats: { type: "string", default: "3" },
    tokens: { type: "string", default: "64" },
    context: { type: "string", default: "1024" },
  },
});

// The first is what the others are compared with. isolated pages may have threads.
const contenders = [
  { name: "wllama", side: "wllama", isolated: false, options: {} },
  { name: "wllama, isolated page", side: "wllama", isolated: true, options: {} },
  ...(asked.threads
    ? [
        {
          name: `wllama, ${asked.threads} threads`,
          side: "wllama",
          isolated: true,
          options: { threads: Number(asked.threads) },
        },
      ]
    : []),
  { name: "gemwire auto", side: "gemwire", isolated: false, options: { device: "auto" } },
  { name: "gemwire cpu", side: "gemwire", isolated: false, options: { device: "cpu" } },
  { name: "gemwire gpu", side: "gemwire", isolated: false, options: { device: "gpu" } },
  { name: "gemwire gpu, watched", side: "gemwire", isolated: false, options: { device: "gpu", inPage: true } },
].filter(({ name }) => !asked.only || asked.only.split(",").some((part) => name.startsWith(part.trim())));

async function textModel(folder) {
  if (asked.model) return resolve(asked.model);
  execFileSync("go", ["run", "./fixtures", folder], { cwd: join(npm, "test"), stdio: ["ignore", 2, 2] });
  return join(folder, "nano-text.gguf");
}

async function measure(browser, server, file, { side, options }) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    page.on("pageerror", (error) => console.error(`page: ${error.message}`));
    await page.goto(`${server.url}/page.html`);
    await page.waitForFunction(() => globalThis.loadModel);
    const url = `${server.url}/models/${encodeURIComponent(basename(file))}`;
    const loaded = await page.evaluate((given) => globalThis.loadModel(given), {
      side,
      options: { url, context: Number(asked.context), ...options },
    });
    const answer = () =>
      page.evaluate((given) => globalThis.answer(given), { prompt: asked.prompt, tokens: Number(asked.tokens) });
    const first = await answer(); // compiles what is compiled on first use
    const answers = [];
    for (let i = 0; i < Number(asked.repeats); i++) {
      const before = await cpuTime(browser);
      const done = await answer();
      answers.push({ ...done, cpuMsPerToken: ((await cpuTime(browser)) - before) / (done.tokens + done.promptTokens) });
    }
    return { ...loaded, firstAnswerMs: loaded.loadMs + first.totalMs, answers };
  } finally {
    await context.close();
  }
}

// cpuTime is what all of the browser's processes have used, in milliseconds: a
// measure that other programs of the machine hardly touch.
async function cpuTime(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return 1000 * processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

async function main() {
  const folder = await mkdtemp(join(tmpdir(), "gemwire-compare-"));
  const file = await textModel(folder);
  const mounts = {
    "/": here,
    "/models": dirname(file),
    "/gemwire": join(npm, "dist"),
    "/wllama": join(here, "node_modules/@wllama/wllama/esm"),
  };
  const servers = {
    true: await serve(mounts),
    false: await serve(mounts, {
      headers: { "Cross-Origin-Opener-Policy": "unsafe-none", "Cross-Origin-Embedder-Policy": "unsafe-none" },
    }),
  };
  const browser = await launch();
  try {
    const runs = await inTurns(contenders, Number(asked.rounds), (contender) =>
      measure(browser, servers[contender.isolated], file, contender),
    );
    const result = report(runs, {
      browser: `Chromium ${browser.version()}`,
      model: basename(file),
      prompt: asked.prompt,
      cores: cpus().length,
      cpu: cpus()[0]?.model,
    });
    if (asked.json) await writeFile(asked.json, `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await browser.close();
    await Promise.all(Object.values(servers).map((server) => server.close()));
    await rm(folder, { recursive: true });
  }
}

await main();
