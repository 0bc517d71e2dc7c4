// Tests the page in Chromium: over a scripted package all that a device may do,
// and with --real a measurement of the built-in model over the package itself.
//
//   node test.mjs [--real] [--screenshots FOLDER]
//
// It needs bin/gemwire (or $GEMWIRE), and for --real bindings/wasm/npm/dist.
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseArgs } from "node:util";
import { launch } from "./chromium.mjs";
import { serve } from "./serving.mjs";

const { values: opts } = parseArgs({ options: { real: { type: "boolean" }, screenshots: { type: "string" } } });

let chromium, server, results;

before(async () => {
  results = await mkdtemp(join(tmpdir(), "gemwire-results-"));
  server = await serve(["--app", `/scripted/=${join(import.meta.dirname, "testdata")}`, "--results", results]);
  chromium = await launch({ swiftshader: true });
});

after(async () => {
  await chromium?.close();
  server?.close();
  await rm(results, { recursive: true, force: true });
});

// open shows the page; `behave` tells the scripted package what to do.
async function open(query = {}, { behave = "", context = {} } = {}) {
  const page = await (await chromium.newContext({ viewport: { width: 900, height: 900 }, ...context })).newPage();
  const url = new URL("bench/", server.url);
  const all = { package: `/scripted/package.js?${behave}`, ...query };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) url.searchParams.set(name, value);
  await page.goto(url.href);
  return page;
}

const state = (page, ...wanted) =>
  page.waitForFunction((list) => list.includes(document.documentElement.dataset.state), wanted);
const figures = async (page) => JSON.parse(await page.locator("#figures").textContent());

test("measures by itself and posts the figures", async () => {
  const page = await open({ auto: "1", tokens: "32", repeats: "4", context: "512", prompt: "Hello", post: "/results" });
  await state(page, "done", "failed");
  assert.equal(await page.locator("#error").isVisible(), false);
  const f = await figures(page);
  assert.deepEqual([f.model, f.repeats, f.decode_tokens, f.context, f.isolated], ["Scripted", 4, 32, 512, true]);
  // The first answer warms up; the scripted rates are 11, 12, 13 and 14 afterwards.
  assert.deepEqual(f.decode.tokens_per_second, { median: 12.5, min: 11, max: 14, runs: [11, 12, 13, 14] });
  assert.deepEqual(f.prefill.tokens_per_second.runs, [100, 100, 100, 100]);
  assert.equal(f.memory.gpu_total_bytes, 6e6);
  assert.equal(f.same_answers, true);
  const [name] = await readdir(results);
  assert.deepEqual(JSON.parse(await readFile(join(results, name), "utf8")), f);
});

test("is worked by hand: form, stop, again", async () => {
  const page = await open();
  assert.match(await page.locator("#adapter").textContent(), /On Scripted GPU/);
  await page.getByLabel("Tokens to decode").fill("1");
  await page.getByRole("button", { name: "Measure" }).click();
  assert.equal(
    await page.locator("html").getAttribute("data-state"),
    "idle",
    "one token has no rate, the browser says so",
  );
  await page.getByLabel("Tokens to decode").fill("100000");
  await page.getByRole("button", { name: "Measure" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await state(page, "idle");
  await page.getByLabel("Tokens to decode").fill("8");
  await page.getByRole("button", { name: "Measure" }).press("Enter");
  await state(page, "done");
  assert.equal(await page.evaluate(() => document.activeElement.id), "results-title");
  assert.match(await page.getByRole("table").textContent(), /Answer of 8 tokens12.0 tokens\/s \(11.0 … 13.0\)/);
});

test("copies the figures", async () => {
  const page = await open(
    { auto: "1", tokens: "8" },
    { context: { permissions: ["clipboard-read", "clipboard-write"] } },
  );
  await state(page, "done");
  await page.getByRole("button", { name: "Copy as JSON" }).click();
  await page.getByText("Copied.").waitFor();
  assert.deepEqual(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())), await figures(page));
});

test("says what went wrong and what to do", async () => {
  for (const [query, behave, want] of [
    [{}, "fail=1", /The model does not fit. Take a smaller context./],
    [{ package: "/none.js" }, "", /The package is not at .*make wasm/],
    [{ model: "http://[/" }, "", /Invalid URL/],
    [{ post: "/nowhere" }, "", /The figures were not taken: 404 nothing has that name/],
  ]) {
    const page = await open({ auto: "1", ...query }, { behave });
    await state(page, "failed");
    assert.match(await page.getByRole("alert").textContent(), want);
  }
});

test("takes an answer of one token", async () => {
  const page = await open({ auto: "1", tokens: "8" }, { behave: "short=1" });
  await state(page, "done");
  assert.match(await page.getByRole("table").textContent(), /too few tokens to tell/);
  assert.equal((await figures(page)).decode.tokens_per_second, undefined);
});

test("says that there is no WebGPU", async () => {
  const page = await open({}, { behave: "webgpu=0" });
  await page.getByText("Only small models run here, on the CPU. This browser has none.").waitFor();
});

test("is accessible, in both themes and on a phone", async (t) => {
  const axe = axeSource();
  if (!axe) return t.skip("axe-core is missing; run: npm ci --prefix examples/web");
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [900, 320]) {
      const page = await open({ post: "/results" }, { context: { colorScheme, viewport: { width, height: 700 } } });
      await page.getByText("On Scripted GPU").waitFor();
      await look(page, axe, `start-${colorScheme}-${width}`);
      await page.getByRole("button", { name: "Measure" }).click();
      await state(page, "done");
      await look(page, axe, `done-${colorScheme}-${width}`);
    }
  }
});

function axeSource() {
  try {
    return createRequire(new URL("../web/package.json", import.meta.url)).resolve("axe-core");
  } catch {
    return undefined;
  }
}

async function look(page, axe, name) {
  if (opts.screenshots) await page.screenshot({ path: join(opts.screenshots, `${name}.png`), fullPage: true });
  await page.addScriptTag({ path: axe });
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(
    violations.map((v) => `${name}: ${v.id}: ${v.nodes[0].html}`),
    [],
  );
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} scrolls sideways`);
}

test("measures the built-in model", { skip: !opts.real && "only with --real" }, async () => {
  const page = await open({ package: undefined, auto: "1", tokens: "16", repeats: "1", context: "256", device: "gpu" });
  await page.waitForFunction(() => ["done", "failed"].includes(document.documentElement.dataset.state), undefined, {
    timeout: 300_000,
  });
  assert.equal(await page.locator("#error").textContent(), "");
  const f = await figures(page);
  assert.match(f.answer, /^Once upon a time/);
  assert.deepEqual([f.device_kind, f.decode_tokens, f.isolated], ["gpu", 16, true]);
  assert.ok(f.decode.tokens_per_second.median > 0 && f.memory.gpu_total_bytes > 0);
});
