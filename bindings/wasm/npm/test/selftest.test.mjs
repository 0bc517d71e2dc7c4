import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { attempt, start } from "./browser.mjs";

let env, page;
before(async () => {
  env = await start();
  page = await env.page();
});
after(() => env?.stop());

test("the self-test finds the kernels right, in a few seconds, and remembers that", async () => {
  const { value, error } = await attempt(page, async () => {
    const seen = [];
    const begun = performance.now();
    const report = await gemwire.Model.selfTest({ onProgress: (p) => seen.push(p) });
    const ms = performance.now() - begun;
    const again = performance.now();
    const second = await gemwire.Model.selfTest();
    return { report, seen, second, ms, again: performance.now() - again };
  });
  assert.equal(error, undefined);
  const { report, second, seen } = value;
  console.log(
    `self-test: ${report.passed} cases in ${Math.round(value.ms)} ms, remembered in ${Math.round(value.again)} ms`,
  );
  assert.deepEqual(report.failures, []);
  assert.ok(report.healthy && report.passed >= 15 && !report.cached);
  assert.equal(report.brief, true, "compiling is slow here");
  assert.equal(seen.length, report.passed + report.skipped);
  assert.ok(seen.every(({ done, total, name }, i) => done === i && total === seen.length && name));
  assert.equal(second.cached, true);
  assert.equal(second.passed, report.passed);
  assert.match(report.info.name, /swiftshader/i);
});

// Minutes on a software rasterizer, where the suite of the kernels has run the same cases.
if (process.env.GEMWIRE_FULL_SELFTEST) {
  test("all of it, where asked for", { timeout: 1_800_000 }, async () => {
    const { value: report, error } = await attempt(page, () => gemwire.Model.selfTest({ full: true }));
    assert.equal(error, undefined);
    assert.deepEqual(report.failures, []);
    assert.ok(report.passed > 400 && !report.brief && !report.cached);
  });
}

test("support says what there is", async () => {
  const support = await page.evaluate(() => gemwire.support());
  assert.equal(support.webgpu, true);
  assert.equal(support.opfs, true);
  assert.ok(support.adapter.vendor);
});

test("what a verdict says is avoided", async () => {
  const { value, error } = await attempt(page, async () => {
    const root = await navigator.storage.getDirectory();
    const verdicts = await (await root.getDirectoryHandle("gemwire")).getDirectoryHandle("verdicts");
    for await (const handle of verdicts.values()) {
      const verdict = JSON.parse(await (await handle.getFile()).text());
      verdict.avoid.features.subgroups = true;
      const out = await handle.createWritable();
      await out.write(JSON.stringify(verdict));
      await out.close();
    }
    const model = await gemwire.Model.load(gemwire.nano, { device: "gpu", context: 512 });
    const { features } = model.info;
    await model.close();
    return { features, had: (await gemwire.Model.selfTest()).features };
  });
  assert.equal(error, undefined);
  assert.equal(value.had.subgroups, true);
  assert.equal(value.features.subgroups, false);
});
