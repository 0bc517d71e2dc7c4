// Runs the package's tests: those in Node, then those in Chromium.
//
//   node test/run.mjs [names of tests/*.test.mjs, without the ending]
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;
const names = process.argv.slice(2);
const files = readdirSync(here).filter(
  (name) => name.endsWith(".test.mjs") && (!names.length || names.includes(name.slice(0, -".test.mjs".length))),
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
