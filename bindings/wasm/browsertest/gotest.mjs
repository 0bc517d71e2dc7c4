// Compiles a package's tests for the browser, runs them in a page and reads
// their results off what they print.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const exec = promisify(execFile);

// compile makes a test binary of a package; the file's path, or null where it has no tests.
export async function compile(root, folder, into) {
  const file = join(into, `${folder.replaceAll("/", "-")}.wasm`);
  const { stdout, stderr } = await exec("go", ["test", "-c", "-tags", "gemwire_simd", "-o", file, `./${folder}`], {
    cwd: root,
    env: { ...process.env, GOOS: "js", GOARCH: "wasm", CGO_ENABLED: "0" },
    maxBuffer: 64 << 20,
  });
  return `${stdout}${stderr}`.includes("no test files") ? null : file;
}

export async function goRoot() {
  return (await exec("go", ["env", "GOROOT"])).stdout.trim();
}

export async function temporary() {
  const folder = await mkdtemp(join(tmpdir(), "gemwire-browsertest-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

// Results gathers what a verbose test binary says.
export class Results {
  constructor(name, print) {
    this.name = name;
    this.print = print;
    this.passed = this.failed = this.skipped = 0;
    this.logs = new Map();
    this.current = "";
  }

  take(line) {
    const turn = /^=== (?:RUN|NAME|CONT) +(\S+)/.exec(line);
    const result = /^ *--- (PASS|FAIL|SKIP): (\S+) \((.*)\)$/.exec(line);
    if (turn) this.current = turn[1];
    else if (result) this.finish(...result.slice(1));
    else if (/^Benchmark\S*\s+\d+/.test(line)) this.print(`bench ${this.name} ${line}`);
    else if (!/^(=== PAUSE|PASS$|FAIL$|testing: warning)/.test(line)) this.log(line);
  }

  log(line) {
    if (!this.logs.has(this.current)) this.logs.set(this.current, []);
    this.logs.get(this.current).push(line);
  }

  finish(outcome, test, time) {
    this[{ PASS: "passed", FAIL: "failed", SKIP: "skipped" }[outcome]]++;
    this.print(`${outcome.toLowerCase()} ${this.name} ${test} (${time})`);
    if (outcome !== "PASS" || this.verbose) this.dump(test);
    this.logs.delete(test);
  }

  dump(test) {
    for (const line of this.logs.get(test) ?? []) this.print(`     ${line.trimEnd()}`);
  }

  // end takes the exit code. A binary that died without a word is a failure.
  end(code) {
    if (code === 0 || this.failed > 0) return;
    this.failed++;
    this.print(`fail ${this.name} (exit code ${code})`);
    for (const test of this.logs.keys()) this.dump(test);
  }
}
