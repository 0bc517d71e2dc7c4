// What goes wrong on the way: servers while a model loads, memory, kernels that
// compute wrongly, and callers who have changed their mind.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { attempt, start } from "./browser.mjs";

let env, page;
before(async () => {
  env = await start();
  page = await env.page();
  await page.evaluate(() => {
    globalThis.question = [{ role: "user", content: "What is the capital of France?" }];
    globalThis.answer = async (of, options) => {
      let text = "";
      for await (const event of of.chat(question, { temperature: 0, ...options }))
        if (event.type === "text") text += event.text;
      return text;
    };
    globalThis.withWorker = (address, options) =>
      gemwire.Model.load(gemwire.nano, {
        ...options,
        device: "gpu",
        worker: new Worker(address, { type: "module" }),
      });
  });
});
after(() => env?.stop());

const reply = "The capital of France is Paris.";

test("a model loads from servers that falter", async (t) => {
  for (const fault of ["breaks", "stutters", "pauses", "busy", "noranges", "sizeless"]) {
    await t.test(fault, async () => {
      const { value, error } = await attempt(
        page,
        async (url) => {
          const model = await gemwire.Model.load(url, {
            device: "cpu",
            context: 256,
            request: { retries: 12, backoff: 10, stall: 700 },
          });
          const text = await answer(model);
          await model.close();
          return text;
        },
        env.models.url(fault),
      );
      assert.equal(error, undefined);
      assert.equal(value, reply);
    });
  }
});

test("a device without enough memory", async (t) => {
  await t.test("for the model: a smaller plan is offered, and loads", async () => {
    const { error } = await attempt(page, () => withWorker("/short_worker.js?most=8000000", { context: 4096 }));
    assert.equal(error?.code, "out-of-memory", error?.message);
    assert.match(error.message, /not enough memory/);
    assert.ok(error.advice.length > 20);
    assert.ok(
      error.suggestion && (error.suggestion.context ?? 4096) <= 4096 && error.suggestion.memoryBudget > 0,
      JSON.stringify(error),
    );
    const { value, error: again } = await attempt(
      page,
      async (suggestion) => {
        const model = await gemwire.Model.load(gemwire.nano, { device: "gpu", context: 4096, ...suggestion });
        const text = await answer(model);
        await model.close();
        return text;
      },
      error.suggestion,
    );
    assert.equal(again, undefined);
    assert.equal(value, reply);
  });
  await t.test("for another session: the first one goes on", async () => {
    const { value, error } = await attempt(page, async () => {
      const plan = async (context) => (await gemwire.store.plan(gemwire.nano, { device: "gpu", context })).plan;
      const [small, large] = [await plan(256), await plan(4096)];
      const most = small.weights + small.cache + small.activations + (large.cache + large.activations) / 2;
      const model = await withWorker(`/short_worker.js?most=${most + 2e6}`, { context: 256 });
      const failed = await model.session({ context: 4096 }).then(
        () => null,
        ({ code, suggestion }) => ({ code, suggestion }),
      );
      const text = await answer(model);
      await model.close();
      return { failed, text };
    });
    assert.equal(error, undefined);
    assert.deepEqual(value.failed, { code: "out-of-memory", suggestion: { context: 2048 } });
    assert.equal(value.text, reply);
  });
});

test("what breaks while weights come from OPFS leaves nothing on the GPU", async (t) => {
  await page.evaluate(async (url) => {
    await gemwire.store.download(url, { name: "nano" });
    const hear = (worker, name) =>
      new Promise((resolve) => {
        const listen = ({ data }) => {
          if (!(name in data)) return;
          worker.removeEventListener("message", listen);
          resolve(data[name]);
        };
        worker.addEventListener("message", listen);
      });
    // broken says how a load ends, and what is left; then the same worker loads once more.
    globalThis.broken = async (what, options = {}) => {
      const worker = new Worker("/faulty_worker.js", { type: "module" });
      await hear(worker, "ready");
      worker.postMessage({ break: what });
      const load = (options) =>
        gemwire.Model.load({ opfs: "nano" }, { device: "gpu", context: 256, worker, ...options });
      const code = await load(options).then(
        () => "it loaded",
        ({ code }) => code,
      );
      const asked = hear(worker, "left");
      worker.postMessage({ left: true });
      const left = await asked;
      worker.postMessage({ break: "" });
      const model = await load();
      const text = await answer(model);
      await model.close();
      worker.terminate();
      return { code, left, text };
    };
  }, env.models.url("good"));
  const faults = {
    "the file ends": ["changed", () => broken("file")],
    "the device is lost": ["device-lost", () => broken("device")],
    "a signal": [
      "cancelled",
      () => {
        const controller = new AbortController();
        return broken("", {
          signal: controller.signal,
          onProgress: ({ phase, done }) => {
            if (phase === "weights" && done > 0) controller.abort();
          },
        });
      },
    ],
  };
  for (const [name, [code, load]] of Object.entries(faults)) {
    await t.test(name, async () => {
      const { value, error } = await attempt(page, load);
      assert.equal(error, undefined, JSON.stringify(error));
      assert.deepEqual(value, { code, left: 0, text: reply });
    });
  }
  await page.evaluate(() => gemwire.store.delete("nano"));
});

test("a kernel that computes wrongly is not used, and the CPU is offered", async () => {
  const { value, error } = await attempt(page, async () => {
    const good = await gemwire.Model.load(gemwire.nano, { device: "gpu", context: 256 });
    await good.close();
    const root = await navigator.storage.getDirectory();
    const verdicts = await (await root.getDirectoryHandle("gemwire")).getDirectoryHandle("verdicts");
    const [handle] = await Array.fromAsync(verdicts.values());
    const verdict = JSON.parse(await (await handle.getFile()).text());
    verdict.avoid.kernels = ["select_last.wgsl"];
    verdict.right = verdict.right.filter(({ form }) => form !== "select_last.wgsl");
    const out = await handle.createWritable();
    await out.write(JSON.stringify(verdict));
    await out.close();
    const refused = await gemwire.Model.load(gemwire.nano, { device: "gpu", context: 256 }).then(
      async (model) => ({ message: await model.close() }),
      (error) => ({ code: error.code, message: error.message, suggestion: error.suggestion }),
    );
    await verdicts.removeEntry(handle.name);
    const model = await gemwire.Model.load(gemwire.nano, { device: "gpu", context: 256, ...refused.suggestion });
    const text = await answer(model);
    const { device } = model.info;
    await model.close();
    return { refused, text, device };
  });
  assert.equal(error, undefined);
  assert.equal(value.refused.code, "unsupported");
  assert.match(value.refused.message, /select_last/);
  assert.deepEqual(value.refused.suggestion, { device: "cpu" });
  assert.equal(value.device, "cpu");
  assert.equal(value.text, reply);
});

test("a signal ends whatever takes time", async (t) => {
  const { error } = await attempt(page, async () => {
    globalThis.model = await gemwire.Model.load(gemwire.nano, { device: "gpu", context: 512 });
  });
  assert.equal(error, undefined);
  const url = env.models.url("slow", "signals");
  // Each takes a signal; "before" is one that has fired already.
  const calls = {
    "loading from a server": ({ signal, url }) => gemwire.Model.load(url, { signal, device: "gpu" }),
    "loading kernels": ({ signal }) => gemwire.Model.load(gemwire.nano, { signal, device: "gpu" }),
    "a plan": ({ signal, url }) => gemwire.store.plan(url, { signal }),
    "a download": ({ signal, url }) => gemwire.store.download(url, { signal, name: "signals" }),
    "an import": async ({ signal }) =>
      gemwire.store.import(new Blob(["GGUF", new Uint8Array(300e6)]), { signal, name: "large" }),
    "the self-test": ({ signal }) => gemwire.Model.selfTest({ signal, force: true }),
    "an answer": ({ signal }) => answer(model, { signal, maxTokens: 400, temperature: 2, topK: 0, topP: 1 }),
    "a completion": ({ signal }) => model.completions.create({ messages: question, temperature: 2 }, { signal }),
    "a completion's stream": async ({ signal }) => {
      for await (const chunk of await model.completions.create(
        { messages: question, stream: true, temperature: 2 },
        { signal },
      ))
        void chunk;
    },
  };
  const quick = {
    "another session": ({ signal }) => model.session({ signal }),
    tokens: ({ signal }) => model.tokenize("Hello", { signal }),
    "text of tokens": ({ signal }) => model.detokenize([2], { signal }),
    "a count": ({ signal }) => model.countTokens(question, { signal }),
    "a text's count": ({ signal }) => model.countTokens("Hello", { signal }),
  };
  for (const [name, call] of Object.entries({ ...calls, ...quick })) {
    await t.test(`${name}, before`, async () => {
      const { error } = await attempt(page, `async (url) => (${call})({ url, signal: AbortSignal.abort() })`, url);
      assert.equal(error?.code, "cancelled");
    });
  }
  for (const [name, call] of Object.entries(calls)) {
    await t.test(`${name}, on the way`, async () => {
      const { value, error } = await attempt(
        page,
        `async (url) => {
        const begun = performance.now();
        const signal = AbortSignal.timeout(150);
        const code = await (${call})({ url, signal }).then(() => "it ended", ({ code }) => code);
        return { code, ms: performance.now() - begun };
      }`,
        url,
      );
      assert.equal(error, undefined);
      // Some are faster than the signal on a fast machine.
      assert.ok(value.code === "cancelled" || value.ms < 200, JSON.stringify(value));
    });
  }
  assert.equal((await attempt(page, () => answer(model))).value, reply, "the model goes on");
  const left = await page.evaluate(() => gemwire.store.list());
  assert.ok(
    left.every((m) => !m.complete && m.name === "signals"),
    JSON.stringify(left),
  );
});
