import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { attempt, start } from "./browser.mjs";

let env, page;
before(async () => {
  env = await start();
  page = await env.page();
});
after(() => env?.stop());

test("a first loading checks the kernels that it takes, a second one does not", async () => {
  const { value, error } = await attempt(page, async () => {
    const load = async (options) => {
      const phases = [],
        checked = [];
      const model = await gemwire.Model.load(gemwire.nano, {
        device: "gpu",
        context: 256,
        onProgress: ({ phase }) => phases.push(phase),
        onCheck: (progress) => checked.push(progress),
        ...options,
      });
      const { kernels } = model.info;
      await model.close();
      return { kernels, phases: [...new Set(phases)], checked };
    };
    return { unchecked: await load({ checkKernels: false }), first: await load(), second: await load() };
  });
  assert.equal(error, undefined);
  const { unchecked, first, second } = value;
  assert.equal(unchecked.kernels, undefined);
  assert.deepEqual(unchecked.checked, []);
  assert.ok(first.kernels.kernels > 10 && first.kernels.new >= first.kernels.kernels, JSON.stringify(first.kernels));
  assert.equal(first.kernels.leftOut, undefined);
  assert.ok(first.phases.includes("check") && first.checked.length > 2);
  assert.deepEqual(
    first.checked.map(({ total }) => total > 10),
    first.checked.map(() => true),
  );
  assert.equal(second.kernels.kernels, first.kernels.kernels);
  assert.equal(second.kernels.new, 0);
  assert.ok(!second.phases.includes("check"));
});

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

test("kernels that compute wrongly are left out, with a word", async () => {
  const { value, error } = await attempt(page, async () => {
    const root = await navigator.storage.getDirectory();
    const verdicts = await (await root.getDirectoryHandle("gemwire")).getDirectoryHandle("verdicts");
    const [handle] = await Array.fromAsync(verdicts.values());
    const kept = await (await handle.getFile()).text();
    const put = async (text) => {
      const out = await handle.createWritable();
      await out.write(text);
      await out.close();
    };
    const verdict = JSON.parse(kept);
    const taken = verdict.right.filter(({ name }) => name.startsWith("product.wgsl")).map(({ form }) => form);
    verdict.avoid.kernels = taken;
    verdict.failures = [{ op: "Linear", case: "made up", error: 1, tolerance: 1e-5, kernels: taken }];
    verdict.right = verdict.right.filter(({ form }) => !taken.includes(form));
    await put(JSON.stringify(verdict));
    const told = [];
    const model = await gemwire.Model.load(gemwire.nano, {
      device: "gpu",
      context: 256,
      onLeftOut: (kernels) => told.push(...kernels),
    });
    let text = "";
    for await (const event of model.chat([{ role: "user", content: "What is the capital of France?" }], {
      temperature: 0,
    }))
      if (event.type === "text") text += event.text;
    const { leftOut } = model.info.kernels;
    await model.close();
    await put(kept);
    return { taken, told, leftOut, text };
  });
  assert.equal(error, undefined);
  assert.ok(value.taken.length > 0);
  assert.ok(value.told.length > 0 && value.told.every(({ kernel, reason }) => kernel && reason));
  assert.deepEqual(value.told, value.leftOut);
  assert.equal(value.text, "The capital of France is Paris.");
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
