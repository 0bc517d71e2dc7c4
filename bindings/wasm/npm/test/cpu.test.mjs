// The CPU path: what "auto" takes where software plays the GPU, as it does in
// these tests, or where there is none.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chromiumAlone } from "../../browsertest/chromium.mjs";
import { attempt, conversations, start } from "./browser.mjs";

let env, page;
before(async () => {
  env = await start();
  page = await env.page();
  const { error } = await attempt(page, async () => {
    globalThis.progress = [];
    globalThis.model = await gemwire.Model.load(gemwire.nano, { onProgress: (p) => progress.push(p) });
    globalThis.answer = async (asked, options = {}, of = model) => {
      let text = "",
        done;
      for await (const event of of.chat(asked, { temperature: 0, ...options })) {
        if (event.type === "text") text += event.text;
        if (event.type === "done") done = event;
      }
      return { text, done };
    };
  });
  assert.equal(error, undefined);
});
after(() => env?.stop());

const question = [{ role: "user", content: "What is the capital of France?" }];
const reply = "The capital of France is Paris.";
// So hot a sampling hardly ever ends by itself.
const endless = { temperature: 5, topK: 0, topP: 1, seed: 1, maxTokens: 3000 };

test("auto takes the CPU where software plays the GPU, and says why", { skip: chromiumAlone }, async () => {
  const info = await page.evaluate(() => model.info);
  assert.equal(info.device, "cpu");
  assert.match(info.deviceName, /WebAssembly SIMD/);
  assert.match(info.fallback, /software/);
  assert.match(info.fallback, /device "gpu"/);
  assert.equal(info.plan, undefined);
  const phases = await page.evaluate(() => progress.map((p) => p.phase));
  assert.deepEqual([...new Set(phases)], ["header", "weights", "kernels"]);
});

test("greedy answers are the reference's", async () => {
  for (const { messages, answer } of await conversations()) {
    const { text, done } = await page.evaluate((messages) => answer(messages), messages);
    assert.equal(text, answer);
    assert.equal(done.reason, "stop");
  }
});

test("stop reaches a worker that computes without a pause", async () => {
  const done = await page.evaluate(
    async ({ question, endless }) => {
      let done;
      for await (const event of model.chat(question, endless)) {
        if (event.type === "text") model.stop();
        if (event.type === "done") done = event;
      }
      return done;
    },
    { question, endless },
  );
  assert.equal(done.reason, "cancelled");
  assert.ok(done.usage.answerTokens < endless.maxTokens / 2, JSON.stringify(done));
});

test("two sessions keep their own texts, at the same time", async () => {
  const [one, other] = await page.evaluate(async (question) => {
    const session = await model.session();
    const both = await Promise.all([
      answer([{ role: "user", content: "My name is Anna." }], {}, session),
      answer(question),
    ]);
    await session.close();
    return both.map((a) => a.text);
  }, question);
  assert.equal(other, reply);
  assert.ok(one.length > 0 && one !== reply);
});

test("the same model from a File, an ArrayBuffer, a URL and OPFS, and in the page itself", async (t) => {
  const ways = {
    File: () =>
      fetch("/dist/nano.gguf")
        .then((r) => r.blob())
        .then((b) => gemwire.Model.load(new File([b], "nano.gguf"))),
    ArrayBuffer: () =>
      fetch("/dist/nano.gguf")
        .then((r) => r.arrayBuffer())
        .then((b) => gemwire.Model.load(b, { device: "cpu" })),
    URL: (url) => gemwire.Model.load(url),
    OPFS: (url) => gemwire.downloadToOpfs(url, { name: "nano" }).then(() => gemwire.Model.loadFromOpfs("nano")),
    "no worker": () =>
      import("/dist/worker.js").then(({ serve }) => gemwire.Model.load(gemwire.nano, { worker: serve })),
  };
  for (const [name, way] of Object.entries(ways)) {
    await t.test(name, async () => {
      const { value, error } = await attempt(
        page,
        `async (url) => {
        const other = await (${way})(url);
        const { text } = await answer(${JSON.stringify(question)}, {}, other);
        await other.close();
        return { text, device: other.info.device };
      }`,
        env.models.url("good"),
      );
      assert.equal(error, undefined);
      assert.equal(value.text, reply);
      if (!chromiumAlone) assert.equal(value.device, "cpu"); // another browser may have a GPU
    });
  }
});

test("a plan is the CPU's where that would be taken", { skip: chromiumAlone }, async () => {
  const { value } = await attempt(page, (url) => gemwire.store.plan(url), env.models.url("good"));
  assert.equal(value.fits, true);
  assert.match(value.plan.device, /^CPU/);
  assert.ok(value.plan.weights > 5e6 && value.plan.cache > 0);
  assert.deepEqual([...new Set(value.plan.tensors.map((tensor) => tensor.where))], ["memory"]);
});

test("a browser without WebGPU answers too, unless the GPU was asked for", async () => {
  const other = await env.context.newPage();
  await other.addInitScript(() => Object.defineProperty(Navigator.prototype, "gpu", { value: undefined }));
  await other.goto(`${env.site.url}/index.html`);
  await other.waitForFunction(() => globalThis.gemwire);
  const { value, error } = await attempt(other, async () => {
    const { serve } = await import("/dist/worker.js");
    const model = await gemwire.Model.load(gemwire.nano, { worker: serve });
    return model.info;
  });
  assert.equal(error, undefined);
  assert.equal(value.device, "cpu");
  assert.ok(value.fallback.length > 15);
  // In this very thread: a worker of its own has a navigator that the page's script did not change.
  const refused = await attempt(other, async () => {
    const { serve } = await import("/dist/worker.js");
    await gemwire.Model.load(gemwire.nano, { worker: serve, device: "gpu" });
  });
  assert.equal(refused.error?.code, "no-webgpu");
  const old = await attempt(other, () => gemwire.Model.load(gemwire.nano, { worker: false }));
  assert.deepEqual([old.error?.code, /gemwire\/worker/.test(old.error?.advice)], ["bad-argument", true]);
  await other.close();
});

test("a device that there is not is refused", async () => {
  const { error } = await attempt(page, () => gemwire.Model.load(gemwire.nano, { device: "abacus" }));
  assert.equal(error?.code, "bad-argument");
  assert.match(error?.message ?? "", /device/);
});
