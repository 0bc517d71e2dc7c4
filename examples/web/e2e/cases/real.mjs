// Over the shipped engine and the built-in model.
import assert from "node:assert/strict";

const patience = 400_000;
const engine = { real: true, limit: patience };

/** Waits until the service worker has everything that a visit without a network needs. */
const installed = (page) => page.evaluate(async () => {
  await navigator.serviceWorker.ready;
  while (!navigator.serviceWorker.controller) await new Promise((resolve) => setTimeout(resolve, 100));
});

export default [
  {
    name: "real: the first answer, and again after a visit without a network",
    ...engine,
    async run(visitor) {
      const page = await visitor.open();
      assert.match(await visitor.ask("What is the capital of Austria?"), /Vienna/);
      await installed(page);
      await visitor.context.setOffline(true);
      await visitor.server.close();
      await page.reload();
      const started = Date.now();
      await visitor.ready();
      console.log(`     second visit, without a network: ready after ${((Date.now() - started) / 1000).toFixed(1)} s`);
      await page.getByRole("link", { name: "What is the capital of Austria?" }).first().click();
      assert.match(await visitor.lastAnswer(), /Vienna/);
      assert.match(await visitor.ask("What is the capital of France?"), /Paris/);
    },
  },
  {
    name: "real: stops, answers again, and keeps both",
    ...engine,
    async run(visitor) {
      const page = await visitor.open();
      await visitor.type("Tell me a short story.");
      await page.locator('li[data-status="streaming"] .prose').filter({ hasText: /\w+ \w+/ }).waitFor();
      await page.keyboard.press("Escape");
      await visitor.answered();
      await page.getByRole("button", { name: "Answer again" }).click();
      await page.getByText("2/2").waitFor();
      await visitor.answered();
      assert.ok((await visitor.lastAnswer()).length > 10);
      assert.match(await page.locator("main").innerText(), /tokens\/s/);
    },
  },
  {
    name: "real: a model by its address: what fits, download, pause, resume, use, delete",
    ...engine,
    async run(visitor) {
      const page = await visitor.open("#/models");
      page.on("dialog", (dialog) => dialog.accept());
      await page.getByLabel("Address", { exact: true }).fill(`${visitor.server.origin}/slow/small.gguf`);
      await page.getByRole("button", { name: "Does it fit? small.gguf" }).click();
      await page.getByText("Fits this device.").waitFor();
      await page.getByRole("button", { name: "Download and keep" }).click();
      await page.getByText(/[1-9][\d.]* MB of 12\.5 MB/).waitFor();
      await page.getByRole("button", { name: "Pause small.gguf" }).click();
      await page.getByText(/Paused at [1-9]/).waitFor();
      await page.reload();
      await page.getByText(/Paused at [1-9]/).waitFor();
      await page.getByRole("button", { name: "Resume small.gguf" }).click();
      await page.getByRole("button", { name: "Use small.gguf", exact: true }).click();
      await page.getByTitle("Model: small, ready").waitFor();
      assert.match(await visitor.ask("What is the capital of Italy?"), /Rome/);
      await page.reload();
      await page.getByTitle("Model: small, ready").waitFor();
      await visitor.go("/models");
      await page.getByRole("button", { name: "Delete small.gguf" }).click();
      await page.getByRole("button", { name: "Delete small.gguf" }).waitFor({ state: "detached" });
    },
  },
  {
    name: "real: a second tab takes over model and chats",
    ...engine,
    async run(visitor) {
      const first = await visitor.open();
      await visitor.ask("What is the capital of Austria?");
      const second = await visitor.open("", { ready: false });
      await second.getByRole("button", { name: "Use gemwire here" }).click();
      await visitor.ready();
      await first.getByRole("button", { name: "Use gemwire here" }).waitFor();
      await second.getByRole("link", { name: "What is the capital of Austria?" }).first().click();
      assert.match(await visitor.ask("What is the capital of France?"), /Paris/);
    },
  },
  {
    name: "real: the self-test finds this device healthy",
    ...engine,
    async run(visitor) {
      const page = await visitor.open("#/self-test");
      await page.getByRole("button", { name: "Run the self-test" }).click();
      await page.getByText(/Every kernel agrees|Not everywhere/).waitFor({ timeout: patience });
      assert.match(await page.locator("main").innerText(), /Every kernel agrees with the CPU/);
    },
  },
];
