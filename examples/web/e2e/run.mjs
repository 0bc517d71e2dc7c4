// Drives the app in Chromium. `npm run e2e` runs all cases, `npm run e2e -- WORD` those with the word in their name.
// With GEMWIRE_BROWSER=firefox or webkit it is that browser, for which "real: the first answer" is written.
// GEMWIRE_E2E_NO_BUILD=1 takes the builds that are there.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launch, visit } from "./chromium.mjs";
import { serve } from "./server.mjs";
import { putVerdicts, takeVerdicts } from "./verdicts.mjs";
import { Visitor } from "./visitor.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const model = here("../../../testdata/conformance/nano/nano.gguf");
const wanted = process.argv[2] ?? "";
// Cases over the scripted model mostly wait; those over the engine keep the machine busy.
const atOnce = 3;
// A case that hangs is ended; none is held to a time.
const limit = 15 * 60_000;
const stepLimit = 120_000;
let verdicts = null;
// Playwright closes the browser on SIGTERM, so that the cases that run fail, and say where they were.
let stopped = false;
process.on("SIGTERM", () => (stopped = true));

function build() {
  const vite = here("../node_modules/vite/bin/vite.js");
  for (const mode of ["production", "fake"])
    execFileSync(process.execPath, [vite, "build", "--mode", mode, "--logLevel", "error"], {
      cwd: here(".."),
      stdio: "inherit",
    });
}

async function cases() {
  const files = readdirSync(here("cases"))
    .filter((name) => name.endsWith(".mjs"))
    .sort();
  const lists = await Promise.all(
    files.map(async (name) => (await import(new URL(`cases/${name}`, import.meta.url))).default),
  );
  return lists.flat().filter(({ name }) => name.includes(wanted));
}

function within(promise, milliseconds) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hangs: not done after ${milliseconds / 1000} s`)), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Runs one case in a browser profile of its own, over the scripted model or, with real: true, over the shipped one. */
async function runCase(browser, { name, run, real = false, touch = false, viewport = { width: 1280, height: 800 } }) {
  const server = await serve({ folder: here(real ? "../dist" : "../dist-fake"), model });
  const context = await visit(browser, { viewport, hasTouch: touch, isMobile: touch, acceptDownloads: true });
  context.setDefaultTimeout(stepLimit);
  const visitor = new Visitor(context, server);
  const started = Date.now();
  try {
    if (real && verdicts) await putVerdicts(context, server.origin, verdicts);
    await within(run(visitor), limit);
    if (visitor.errors.length > 0) throw new Error(`errors in the page: ${visitor.errors.join("; ")}`);
    console.log(`ok   ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
    for (const note of visitor.notes) console.log(`note ${note}`);
    if (real) verdicts ??= await takeVerdicts(visitor.page).catch(() => null);
    return true;
  } catch (error) {
    console.log(`FAIL ${name}\n${error instanceof Error ? error.stack : error}`);
    for (const line of visitor.console.slice(-20)) console.log(`     console: ${line}`);
    mkdirSync(here("out"), { recursive: true });
    await visitor.screenshot(here(`out/${name.replaceAll(/\W+/g, "-")}.png`)).catch(() => undefined);
    return false;
  } finally {
    await visitor.leave();
    await context.close().catch(() => undefined);
    await server.close().catch(() => undefined);
  }
}

/** Runs cases, some at once; how many passed. */
async function runAll(browser, list, workers) {
  const queue = [...list];
  let passed = 0;
  const work = async () => {
    for (let one = queue.shift(); one && !stopped; one = queue.shift()) if (await runCase(browser, one)) passed++;
  };
  await Promise.all(Array.from({ length: workers }, work));
  return passed;
}

if (process.env.GEMWIRE_E2E_NO_BUILD !== "1") build();
const all = await cases();
const browser = await launch();
const passed =
  (await runAll(
    browser,
    all.filter(({ real }) => !real),
    atOnce,
  )) +
  (await runAll(
    browser,
    all.filter(({ real }) => real),
    1,
  ));
await browser.close();
console.log(`${passed} passed, ${all.length - passed} failed`);
process.exit(passed < all.length || passed === 0 ? 1 : 0);
