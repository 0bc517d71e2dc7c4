// Runs Go tests in Chromium, in a Dedicated Worker.
//
//   node run.mjs [options] [package folder[=regexp of tests] ...]
//
//   -run REGEXP    tests to run in every package that names none
//   -bench REGEXP  benchmarks to run as well
//   -v             print every test's log
//   -timeout MIN   of one package, in minutes (10)
//
// Without packages, those of `suite` below. One line tells of each test, the
// last one counts them; the exit code is 1 where one failed. Environment
// variables GEMWIRE_… reach the tests.
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build as buildKernels } from "../../../gemma4/cpu/kernel/wasm/build.mjs";
import { launch } from "./chromium.mjs";
import { compile, goRoot, Results, temporary } from "./gotest.mjs";
import { serve } from "./server.mjs";

const suite = [
  "wgslkit",
  // In parts, since each has ten minutes.
  "wgslkit/ops=^TestOps$/^[A-D]",
  "wgslkit/ops=^TestOps$/^[E-K]",
  "wgslkit/ops=^TestOps$/^L",
  "wgslkit/ops=^TestOps$/^[M-Z]",
  "gemma4/cpu/kernel",
  "gemma4/cpu=TestConformance|TestSoftTokens|TestMany|Tab",
  "gemma4=JavaScript|TestGoingBackIsCheap",
  "gemma4/chat=TestReleasedTemplates",
  "gemma4/gpu=TestBlocks",
  "gemma4/parity=TestConformance$|TestConformanceQ8/(cpu|gpu)/nano",
  "multimodal/picture",
  "multimodal/sound",
  "multimodal/parity=TestConformance/(cpu|gpu)/(e2b|nano|unified)",
];

const root = resolve(import.meta.dirname, "../../..");
const furtherCases = process.env.GEMWIRE_CASES;

function options() {
  const args = process.argv.slice(2).map((arg) => arg.replace(/^-(run|bench|timeout)$/, "--$1"));
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      run: { type: "string" },
      bench: { type: "string" },
      timeout: { type: "string", default: "10" },
      v: { type: "boolean", short: "v" },
    },
  });
  const packages = (positionals.length ? positionals : suite).map((given) => {
    const [folder, pattern] = given.split(/=(.*)/);
    return { folder: folder.replace(/^\.\//, "").replace(/\/$/, ""), pattern: pattern ?? values.run };
  });
  return { ...values, packages };
}

function environment() {
  const given = Object.entries(process.env).filter(([name]) => name.startsWith("GEMWIRE_"));
  return {
    ...Object.fromEntries(given),
    ...(furtherCases && { GEMWIRE_CASES: "/cases" }),
    TMPDIR: "/tmp",
    HOME: "/tmp",
  };
}

function argumentsOf({ pattern, bench, timeout }) {
  const argv = ["test", "-test.v", `-test.timeout=${timeout}m`];
  if (bench) argv.push("-test.run=^$", `-test.bench=${bench}`);
  else if (pattern) argv.push(`-test.run=${pattern}`);
  return argv;
}

async function runPackage(browser, server, built, { folder, pattern }, opts) {
  const results = new Results(folder, console.log);
  results.verbose = opts.v;
  const file = await compile(root, folder, built);
  if (!file) return results;
  const page = await browser.newPage();
  page.on("console", (message) => results.log(`console: ${message.text()}`));
  await page.exposeFunction("printed", (line) => results.take(line));
  await page.goto(`${server.url}/index.html`);
  const test = {
    wasm: `/built/${folder.replaceAll("/", "-")}.wasm`,
    cwd: `/repo/${folder}`,
    env: environment(),
    argv: argumentsOf({ ...opts, pattern }),
  };
  const died = new Promise((resolve) => page.on("crash", () => resolve(137)));
  results.end(await Promise.race([page.evaluate((given) => globalThis.run(given), test), died]));
  await page.close().catch(() => {});
  return results;
}

async function main() {
  const opts = options();
  const built = await temporary();
  await writeFile(join(built.folder, "kernels.wasm"), await buildKernels());
  const mounts = {
    "/": join(import.meta.dirname, "page"),
    "/built": built.folder,
    "/repo": root,
    "/kernels.wasm": join(built.folder, "kernels.wasm"),
    "/kernels": join(root, "gemma4/cpu/kernel/wasm"),
    "/wasm_exec.js": join(await goRoot(), "lib/wasm/wasm_exec.js"),
  };
  if (furtherCases) mounts["/cases"] = furtherCases;
  const server = await serve(mounts);
  const browser = await launch();
  const total = { passed: 0, failed: 0, skipped: 0 };
  try {
    for (const one of opts.packages) {
      const results = await runPackage(browser, server, built.folder, one, opts);
      for (const key of Object.keys(total)) total[key] += results[key];
    }
  } finally {
    await browser.close();
    await server.close();
    await built.remove();
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  process.exitCode = total.failed > 0 || (total.passed === 0 && !opts.bench) ? 1 : 0;
}

await main();
