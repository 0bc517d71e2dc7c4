// Builds dist/: the page's half, the worker with Go's loader inside, the Go
// program, the types and the built-in model with its module; and checks the bundle's size.
//
//   node build.mjs [--js]    --js leaves the Go program as it is
import { execFileSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { build as buildKernels } from "../../../gemma4/cpu/kernel/wasm/build.mjs";

const here = import.meta.dirname;
const root = resolve(here, "../../..");
const dist = join(here, "dist");
const most = 4 << 20; // bytes of all that a page loads, gzipped

const goRoot = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();

// Files come from JavaScript: Go's own HTTP client would be a fifth of the bundle.
function buildGo() {
  execFileSync(
    "go",
    [
      "build",
      "-trimpath",
      "-tags",
      "nohttp,gemwire_simd",
      "-ldflags",
      "-s -w",
      "-o",
      join(dist, "gemwire.wasm"),
      "./bindings/wasm/bundle",
    ],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, GOOS: "js", GOARCH: "wasm", CGO_ENABLED: "0" },
    },
  );
}

const scripts = {
  name: "scripts",
  setup(b) {
    b.onResolve({ filter: /^gemwire:wasm_exec$/ }, () => ({ path: join(goRoot, "lib/wasm/wasm_exec.js") }));
    b.onResolve({ filter: /^gemwire:link$/ }, () => ({ path: join(root, "gemma4/cpu/kernel/wasm/link.js") }));
    b.onResolve({ filter: /^gemwire:kernels$/ }, () => ({ path: "kernels.wasm", namespace: "kernels" }));
    b.onLoad({ filter: /./, namespace: "kernels" }, async () => ({ contents: await buildKernels(), loader: "binary" }));
    b.onResolve({ filter: /^gemwire:webgpu$/ }, () => ({ path: join(root, "wgslkit/internal/backend/js/webgpu.js") }));
  },
};

async function buildJS() {
  const options = {
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    keepNames: true,
    sourcemap: false,
    legalComments: "inline",
    absWorkingDir: here,
  };
  await build({
    ...options,
    entryPoints: ["src/index.ts"],
    outfile: "dist/index.js",
    banner: { js: "// gemwire: MIT OR Apache-2.0. https://github.com/gemwire/gemwire" },
  });
  await build({ ...options, entryPoints: ["src/nano.ts"], outfile: "dist/nano.js" });
  await build({ ...options, entryPoints: ["src/worker.ts"], outfile: "dist/worker.js", plugins: [scripts] });
  execFileSync(process.execPath, [join(here, "node_modules/typescript/lib/tsc.js"), "-p", here], {
    stdio: "inherit",
    cwd: here,
  });
  // What the worker is made of is nobody's business but its own.
  await rm(join(dist, "worker"), { recursive: true });
  await writeFile(join(dist, "worker.d.ts"), workerTypes);
}

const workerTypes = `import type { Port } from "./protocol.js";

/**
 * Answers the requests of one page. In a Dedicated Worker that happens by itself; \`worker: serve\` computes in the
 * page.
 */
export declare function serve(port: Port): void;
`;

async function checkVersion() {
  const { version } = JSON.parse(await readFile(join(here, "package.json"), "utf8"));
  if (!(await readFile(join(here, "src/version.ts"), "utf8")).includes(`"${version}"`))
    throw new Error(`src/version.ts does not say ${version}, as package.json does`);
}

async function measure() {
  let total = 0;
  console.log(`${"".padEnd(24)} ${"bytes".padStart(10)} ${"gzipped".padStart(10)}`);
  for (const name of (await readdir(dist)).sort()) {
    const { size } = await stat(join(dist, name));
    const loaded = /\.(js|wasm)$/.test(name);
    const packed = loaded ? gzipSync(await readFile(join(dist, name)), { level: 9 }).length : 0;
    total += packed;
    if (loaded) console.log(`${name.padEnd(24)} ${String(size).padStart(10)} ${String(packed).padStart(10)}`);
  }
  console.log(`${"all".padEnd(24)} ${"".padStart(10)} ${String(total).padStart(10)}  of at most ${most}`);
  if (total > most) throw new Error(`the bundle has ${total} bytes gzipped; it may have ${most}`);
}

await mkdir(dist, { recursive: true });
await checkVersion();
if (!process.argv.includes("--js")) buildGo();
await buildJS();
await cp(join(root, "gemma4/nano/nano.gguf"), join(dist, "nano.gguf"), { force: true });
for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) await cp(join(root, name), join(here, name));
await measure();
