// Compiles the kernels with AssemblyScript, which is installed here if it is not.
//
//   import { build } from ".../build.mjs"    const bytes = await build();
//   node build.mjs kernels.wasm [kernels.wat]
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const here = import.meta.dirname;

// The memory is Go's: none of it may be taken, for data or a stack.
const settings = [
  "--runtime",
  "stub",
  "--importMemory",
  "--noExportMemory",
  "--enable",
  "simd",
  "--noAssert",
  "--use",
  "abort=",
  "-O3",
];

/** build returns the module's bytes. */
export async function build({ text } = {}) {
  await install();
  const folder = await mkdtemp(join(tmpdir(), "gemwire-kernels-"));
  try {
    const file = join(folder, "kernels.wasm");
    const wanted = text ? ["--textFile", text] : [];
    execFileSync(
      process.execPath,
      [join(here, "node_modules/assemblyscript/bin/asc.js"), "src/index.ts", "--outFile", file, ...wanted, ...settings],
      {
        cwd: here,
        stdio: ["ignore", 2, 2],
      },
    );
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function install() {
  const lock = join(here, "package-lock.json"),
    stamp = join(here, "node_modules/.package-lock.json");
  if (existsSync(stamp) && (await stat(stamp)).mtimeMs >= (await stat(lock)).mtimeMs) return;
  execFileSync("npm", ["ci", "--prefix", here, "--no-audit", "--no-fund", "--loglevel=error"], {
    stdio: ["ignore", 2, 2],
  });
}

if (process.argv[1] === import.meta.filename) {
  const [out, text] = process.argv.slice(2).map((path) => resolve(path));
  if (!out) throw new Error("usage: node build.mjs kernels.wasm [kernels.wat]");
  const { writeFile } = await import("node:fs/promises");
  await writeFile(out, await build({ text }));
}
