// Measures a model in desktop Chromium and prints the figures as JSON.
//
//   node run-chromium.mjs [--model nano|URL|FILE.gguf|NAME] [--tokens N] [--repeats R] [--context N]
//                         [--device auto|gpu|cpu] [--prompt TEXT] [--no-worker] [--post URL] [--swiftshader] [--headed]
//                         [--timeout SECONDS]
//
// It starts `gemwire serve` itself (bin/gemwire, or $GEMWIRE) on a free port. A
// file is served from its folder, and a NAME (gemma4:e2b) from Ollama's store.
//
// $GEMWIRE_CHROMIUM names another browser. Without --swiftshader it computes on
// the machine's GPU; with it on the CPU, as tests do where there is none.
import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "./chromium.mjs";
import { serve } from "./serving.mjs";

function options() {
  const text = { type: "string" };
  const yes = { type: "boolean", default: false };
  const { values } = parseArgs({
    options: {
      model: { ...text, default: "nano" },
      tokens: text,
      repeats: text,
      context: text,
      device: text,
      prompt: text,
      post: text,
      timeout: { ...text, default: "600" },
      "no-worker": yes,
      swiftshader: yes,
      headed: yes,
    },
  });
  return values;
}

// served says what `gemwire serve` has to offer for a model, and under which name the page asks for it.
function served(model) {
  if (model === "nano" || /^https?:/.test(model)) return { args: [], url: model };
  if (existsSync(model))
    return { args: ["--models", dirname(resolve(model))], url: `/models/${encodeURIComponent(basename(model))}` };
  return { args: ["--ollama"], url: `/models/${model.split("/").map(encodeURIComponent).join("/")}` };
}

function address(base, url, opts) {
  const page = new URL("bench/", base);
  const query = {
    auto: "1",
    model: url,
    tokens: opts.tokens,
    repeats: opts.repeats,
    context: opts.context,
    device: opts.device,
    prompt: opts.prompt,
    post: opts.post,
    worker: opts["no-worker"] ? "0" : "1",
  };
  for (const [name, value] of Object.entries(query)) if (value !== undefined) page.searchParams.set(name, value);
  return page.href;
}

async function measure(page, url, timeout) {
  page.on("pageerror", (error) => console.error(`page: ${error.message}`));
  await page.goto(url);
  const step = page.locator("#step");
  const heard = setInterval(async () => console.error(await step.textContent().catch(() => "")), 10_000);
  try {
    await page.waitForFunction(() => ["done", "failed"].includes(document.documentElement.dataset.state), undefined, {
      timeout,
    });
  } finally {
    clearInterval(heard);
  }
  if ((await page.evaluate(() => document.documentElement.dataset.state)) === "failed")
    throw new Error(await page.locator("#error").textContent());
  return JSON.parse(await page.locator("#figures").textContent());
}

async function main() {
  const opts = options();
  const { args, url } = served(opts.model);
  const server = await serve(args);
  try {
    const chromium = await launch(opts);
    try {
      const figures = await measure(
        await chromium.newPage(),
        address(server.url, url, opts),
        Number(opts.timeout) * 1000,
      );
      console.log(JSON.stringify(figures, null, 2));
    } finally {
      await chromium.close();
    }
  } finally {
    server.close();
  }
}

main().catch((error) => {
  console.error(`run-chromium: ${error.message}`);
  process.exitCode = 1;
});
