import assert from "node:assert/strict";
import { test } from "node:test";
import { attempt, start } from "./browser.mjs";

test("a strict content security policy is enough", async () => {
  const env = await start({
    headers: { "Content-Security-Policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'" },
  });
  try {
    const page = await env.page();
    const { value, error } = await attempt(page, async () => {
      const blob = await (await fetch("/dist/nano.gguf")).blob();
      const { sha256 } = await gemwire.store.import(blob, { name: "nano" });
      return { sha256, plan: await gemwire.store.plan({ opfs: "nano" }) };
    });
    assert.equal(error, undefined);
    assert.equal(value.plan.fits, true);
    assert.equal(value.sha256.length, 64);
  } finally {
    await env.stop();
  }
});

test("a lost device is told, and the model loads again", { timeout: 600_000 }, async () => {
  const env = await start();
  try {
    const page = await env.page();
    await attempt(page, async () => {
      await gemwire.store.import(await (await fetch("/dist/nano.gguf")).blob(), { name: "nano" });
      globalThis.load = () => gemwire.Model.loadFromOpfs("nano", { device: "gpu", context: 512 });
      globalThis.model = await load();
    });
    const crash = env.browser.newBrowserCDPSession().then((cdp) => cdp.send("Browser.crashGpuProcess").catch(() => {}));
    const lost = await page.evaluate(() => model.lost.then(({ code, message, advice }) => ({ code, message, advice })));
    await crash;
    assert.equal(lost.code, "device-lost");
    assert.match(lost.advice, /OPFS need no new download/);
    const { error } = await attempt(page, async () => {
      for await (const event of model.chat([{ role: "user", content: "Hi" }])) void event;
    });
    assert.equal(error.code, "device-lost");
    const { value, error: again } = await attempt(page, async () => {
      await model.close();
      const reloaded = await load();
      let text = "";
      for await (const event of reloaded.chat([{ role: "user", content: "What is the capital of France?" }], {
        temperature: 0,
      })) {
        if (event.type === "text") text += event.text;
      }
      await reloaded.close();
      return text;
    });
    assert.equal(again, undefined);
    assert.equal(value, "The capital of France is Paris.");
  } finally {
    await env.stop();
  }
});

test("WebAssembly's memory that runs out is told in a sentence", async () => {
  const env = await start({ args: ["--js-flags=--wasm-max-mem-pages=210"] }); // 13 MiB
  try {
    const page = await env.page();
    const { error } = await attempt(page, () => gemwire.Model.load(gemwire.nano, { device: "cpu" }));
    assert.equal(error?.code, "out-of-memory", error?.message);
    assert.match(error.message, /this tab has no more memory/);
    assert.match(error.advice, /smaller context/);
    const { value } = await attempt(page, () => gemwire.support());
    assert.equal(value.webgpu, true, "the page goes on");
  } finally {
    await env.stop();
  }
});
