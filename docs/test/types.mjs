// Checks the TypeScript and JavaScript of pages against the npm package's sources.
// What a reader has at hand is declared in reader.d.ts.
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import ts from "typescript";
import { fences } from "./fences.mjs";

/** checkTypes compiles each block that imports something; it returns how many and what is wrong. */
export async function checkTypes(pages, root) {
  const files = new Map();
  for (const page of pages) {
    for (const block of fences(await readFile(page, "utf8"))) {
      if (!/^(ts|js|tsx)$/.test(block.language) || !/^\s*import .*\bfrom\b/m.test(block.text)) continue;
      const source = join(root, "docs", `${relative(root, page).replaceAll("/", "-")}-${block.line}.mts`);
      files.set(source, { block, page, strict: block.language !== "js" });
    }
  }
  const faults = [];
  for (const strict of [true, false]) {
    const sources = [...files].filter(([, file]) => file.strict === strict).map(([name]) => name);
    const options = {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      strict,
      noImplicitAny: strict,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      types: [],
      lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
      paths: {
        gemwire: [join(root, "bindings/wasm/npm/src/index.ts")],
        "gemwire/nano": [join(root, "bindings/wasm/npm/src/nano.ts")],
        vite: [join(root, "docs/node_modules/vite")],
        "vite-plugin-pwa": [join(root, "docs/test/any.d.ts")],
      },
    };
    const host = ts.createCompilerHost(options);
    const { readFile: read, fileExists, getSourceFile } = host;
    host.readFile = (name) => files.get(name)?.block.text ?? read(name);
    host.fileExists = (name) => files.has(name) || fileExists(name);
    host.getSourceFile = (name, ...more) =>
      files.has(name)
        ? ts.createSourceFile(name, files.get(name).block.text, ts.ScriptTarget.ES2023)
        : getSourceFile(name, ...more);
    const program = ts.createProgram([...sources, join(root, "docs/test/reader.d.ts")], options, host);
    for (const name of sources) {
      for (const d of ts.getPreEmitDiagnostics(program, program.getSourceFile(name))) {
        const { block, page } = files.get(name);
        const { line } = d.file.getLineAndCharacterOfPosition(d.start);
        faults.push(`${page}:${block.line + line}: ${ts.flattenDiagnosticMessageText(d.messageText, "\n")}`);
      }
    }
  }
  return { count: files.size, faults };
}
