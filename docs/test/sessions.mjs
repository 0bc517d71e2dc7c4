// Runs the sessions of pages as a reader would, each page in an empty folder that
// has the clone at ../gemwire, and compares what is printed.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fences, matches, steps } from "./fences.mjs";

const go = (name) => execFileSync("go", ["env", name], { encoding: "utf8" }).trim();

/** environment is a machine on which gemwire was installed and nothing else done. */
async function environment(folder, root) {
  const home = join(folder, "home");
  await mkdir(home, { recursive: true });
  const kept = Object.fromEntries(
    ["GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GONOSUMDB", "GOSUMDB"].map((name) => [name, go(name)]),
  );
  return {
    ...process.env,
    ...kept,
    HOME: home,
    XDG_CACHE_HOME: join(home, ".cache"),
    XDG_CONFIG_HOME: join(home, ".config"),
    OLLAMA_MODELS: "",
    GEMWIRE_MODELS: "",
    GEMWIRE_CASES: "",
    GOWORK: "",
    PATH: `${join(root, "bin")}:${process.env.PATH}`,
    NO_COLOR: "1",
    LC_ALL: "C.UTF-8",
    COLUMNS: "120",
  };
}

/** runSessions runs those of a page; it returns how many commands ran and what went wrong. */
export async function runSessions(page, root) {
  const blocks = fences(await readFile(page, "utf8"));
  const result = { commands: 0, faults: [] };
  if (!blocks.some(({ language }) => language === "console")) return result;
  const folder = await mkdtemp(join(tmpdir(), "gemwire-docs-"));
  try {
    const here = join(folder, basename(page, ".md"));
    await mkdir(here);
    const env = await environment(folder, root);
    for (const block of blocks) {
      if (block.name) {
        await mkdir(dirname(join(here, block.name)), { recursive: true });
        await writeFile(join(here, block.name), `${block.text}\n`);
      }
      if (block.language !== "console") continue;
      for (const step of steps(block)) {
        result.commands++;
        // The clone is this one, under its own name: Go has compiled it there before.
        const fault = runStep({ ...step, command: step.command.replaceAll("../gemwire", root) }, here, env);
        if (fault) result.faults.push(`${page}:${step.line}: $ ${step.command}\n${fault}`);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return result;
}

/** A reader stays in the folder that cd has led to. */
function runStep(step, here, env) {
  const cd = /^cd (\S+)$/.exec(step.command);
  if (cd) {
    env.FOLDER = join(env.FOLDER ?? here, cd[1]);
    return existsSync(env.FOLDER) ? "" : `no folder ${env.FOLDER}`;
  }
  const { status, stdout, stderr, error } = spawnSync("bash", ["-e", "-o", "pipefail", "-c", step.command], {
    cwd: env.FOLDER ?? here,
    env,
    encoding: "utf8",
    input: step.input.map((line) => `${line}\n`).join(""),
    maxBuffer: 16 << 20,
  });
  if (error) return String(error);
  if (status !== 0) return `ended with status ${status}\n${stdout}${stderr}`;
  const got = (stdout || (step.output.length > 0 ? stderr : ""))
    .replace(/\n+$/, "")
    .split("\n")
    .filter((line, i, all) => !(all.length === 1 && line === ""));
  const wanted = step.output;
  return matches(wanted, got) ? "" : `printed:\n${got.join("\n")}\nand not:\n${wanted.join("\n")}`;
}
