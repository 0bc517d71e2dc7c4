// Runs the package's tests: those in Node, then those in Chromium, or in the browser that GEMWIRE_BROWSER names.
//
//   node test/run.mjs [names of tests/*.test.mjs, without the ending]
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;
const names = process.argv.slice(2);
const browser = process.env.GEMWIRE_BROWSER || "chromium";
// These need WebGPU on any machine, Chromium's DevTools protocol, its switches, or what it decodes.
const chromiumAlone = ["arriving", "faults", "media", "model", "page", "selftest", "training-gpu", "work"];
const wanted = (name) => {
  if (names.length) return names.includes(name);
  if (browser === "chromium" || !chromiumAlone.includes(name)) return true;
  console.log(`skipped: ${name}.test.mjs, which ${browser} lacks something for`);
  return false;
};
const files = readdirSync(here).filter(
  (name) => name.endsWith(".test.mjs") && wanted(name.slice(0, -".test.mjs".length)),
);
mkdirSync(join(here, "forms"), { recursive: true });
execFileSync("go", ["run", "./fixtures", "forms"], { cwd: here, stdio: "inherit" });
if (!existsSync(join(here, "../dist/worker.js"))) throw new Error("build the package first: make wasm");
const { status } = spawnSync(
  process.execPath,
  [
    "--test",
    "--test-concurrency=1",
    "--test-timeout=400000",
    "--test-reporter=spec",
    ...files.map((name) => join(here, name)),
  ],
  { stdio: "inherit" },
);
process.exit(status ?? 1);
