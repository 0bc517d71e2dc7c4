// What of the package gets where: into an app's bundle, and into Node.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";

const dist = join(import.meta.dirname, "../dist");

async function bundled(code) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: dist },
    alias: { gemwire: join(dist, "index.js"), "gemwire/nano": join(dist, "nano.js") },
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  return outputFiles[0].text;
}

test("the built-in model is in apps that import it, and in no others", async () => {
  const without = await bundled('import { Model } from "gemwire"; console.log(Model, Model.load("/a.gguf"));');
  assert.match(without, /worker\.js/, "the worker is found by its address");
  assert.doesNotMatch(without, /nano\.gguf/);
  const using = await bundled(
    'import { Model } from "gemwire"; import { nano } from "gemwire/nano"; Model.load(nano);',
  );
  assert.match(using, /new URL\("\.\/nano\.gguf", import\.meta\.url\)/, "bundlers find what is written so");
});

test("Node is told that it is no browser", async (t) => {
  const { Model, store, TrainingSession } = await import("../dist/index.js");
  const { nano } = await import("../dist/nano.js");
  const calls = {
    "the built-in model": () => Model.load(nano),
    "an address": () => Model.load("https://example.org/a.gguf"),
    "the self-test": () => Model.selfTest(),
    "the store": () => store.list(),
    "a download": () => store.download("https://example.org/a.gguf"),
    "a plan": async () => store.plan(nano),
    "saved runs": () => TrainingSession.saved(),
  };
  for (const [name, call] of Object.entries(calls))
    await t.test(name, () =>
      assert.rejects(call, ({ code, message, advice }) => {
        assert.equal(code, "unsupported");
        assert.match(message, /browsers only/);
        assert.doesNotMatch(message, /file:/);
        assert.match(advice, /gemwire command/);
        return true;
      }),
    );
});
