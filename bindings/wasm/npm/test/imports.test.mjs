import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join, normalize, dirname } from "node:path";
import { test } from "node:test";

test("no source file imports one that imports it, types included", async () => {
  const root = join(import.meta.dirname, "../src");
  const files = (await readdir(root, { recursive: true })).filter(
    (name) => /\.ts$/.test(name) && !name.endsWith(".d.ts"),
  );
  const imports = new Map();
  for (const file of files) {
    const text = await readFile(join(root, file), "utf8");
    const named = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)\.js"/g)].map(
      ([, to]) => `${normalize(join(dirname(file), to))}.ts`,
    );
    imports.set(file, named);
    for (const to of named) assert.ok(files.includes(to), `${file} imports ${to}`);
  }
  const done = new Set();
  const walk = (file, path) => {
    assert.ok(!path.includes(file), `a circle: ${[...path.slice(path.indexOf(file)), file].join(" → ")}`);
    if (done.has(file)) return;
    for (const to of imports.get(file)) walk(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
});
