import assert from "node:assert/strict";

export default [
  {
    name: "engine: too little memory ends in a sentence with a smaller plan that works",
    async run(visitor) {
      const page = await visitor.open("", { script: "oom", ready: false });
      await page.getByText("The GPU has too little memory for 4.2 GB.").waitFor();
      await page.getByRole("button", { name: "Load with 4,096 tokens of context and at most 1.9 GB of GPU memory" }).click();
      await visitor.ready();
      await visitor.ask("hello");
    },
  },
  {
    name: "engine: a lost device ends in a sentence, and the model can be loaded again",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("before");
      await visitor.type("/lost");
      await page.getByRole("button", { name: "Reload the model" }).click();
      await visitor.ready();
      assert.equal(await visitor.ask("after"), "You said: after");
      await page.locator(".prose").getByText("You said: before").waitFor();
    },
  },
  {
    name: "engine: a browser without WebGPU says what to do, small models answer, and chats can be read",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("written before");
      await page.evaluate(() => localStorage.setItem("fake", "no-webgpu"));
      await page.reload();
      await page.getByText("This browser gives no way to the GPU. What to do").click();
      await page.getByText("(this one)").waitFor();
      await page.locator(".prose").getByText("You said: written before").waitFor();
      await visitor.ready();
      assert.equal(await visitor.ask("meanwhile"), "You said: meanwhile");
      await page.evaluate(() => {
        const settings = JSON.parse(localStorage.getItem("gemwire.settings"));
        localStorage.setItem("gemwire.settings", JSON.stringify({ ...settings, state: { ...settings.state, model: { kind: "stored", name: "large.gguf" } } }));
      });
      await page.reload();
      await page.getByText("The model is too large for the processor").waitFor();
      await page.locator(".prose").getByText("You said: written before").waitFor();
      assert.equal(await page.getByRole("button", { name: "Send" }).isDisabled(), true);
    },
  },
  {
    name: "self-test: progress, a verdict and a report to copy",
    async run(visitor) {
      const page = await visitor.open("#/self-test", { script: "bad-kernels" });
      await page.getByRole("button", { name: "Run the self-test" }).click();
      await page.getByText("Not everywhere.").waitFor();
      await page.getByRole("button", { name: "Copy the report" }).click();
      const report = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(report, /FAIL attention heads 8: error 4\.00e-1[^\n]*not used any more: attention\.subgroups/);
      assert.match(report, /412 passed, 1 failed/);
    },
  },
  {
    name: "models: download, pause, resume, use, delete",
    async run(visitor) {
      const page = await visitor.open("#/models");
      page.on("dialog", (dialog) => dialog.accept());
      await page.getByLabel("Address", { exact: true }).fill("https://huggingface.co/a/b/blob/main/small.gguf");
      await page.getByRole("button", { name: "Download and keep" }).click();
      await page.getByRole("button", { name: "Pause small.gguf" }).click();
      await page.getByText(/Paused at \d/).waitFor();
      await page.getByRole("button", { name: "Resume small.gguf" }).click();
      await page.getByRole("button", { name: "Use small.gguf", exact: true }).click();
      await page.getByTitle("Model: small, ready").waitFor();
      await visitor.go("/models");
      await page.getByRole("button", { name: "Delete small.gguf" }).click();
      await page.getByRole("button", { name: "Delete small.gguf" }).waitFor({ state: "detached" });
    },
  },
  {
    name: "models: an assistant beside the model, and what is none",
    async run(visitor) {
      const page = await visitor.open("#/models");
      assert.equal(await page.getByLabel("Assistant", { exact: true }).count(), 0);
      for (const name of ["small.gguf", "small-assistant.gguf"]) {
        await page.getByLabel("GGUF file").setInputFiles({ name, mimeType: "", buffer: Buffer.from("GGUF") });
        await page.getByRole("button", { name: "Copy into the browser" }).click();
        await page.getByRole("button", { name: `Use ${name}`, exact: true }).waitFor();
      }
      await page.getByLabel("Assistant", { exact: true }).selectOption("small-assistant.gguf");
      await page.getByRole("definition").filter({ hasText: "small-assistant.gguf" }).waitFor();
      await page.getByLabel("Assistant", { exact: true }).selectOption("small.gguf");
      await page.getByText("small.gguf cannot guess for nano. small.gguf is no assistant.").waitFor();
      await page.getByRole("definition").filter({ hasText: "small-assistant.gguf" }).waitFor({ state: "detached" });
      assert.equal(await page.getByLabel("Assistant", { exact: true }).inputValue(), "");
    },
  },
  {
    name: "models: what fits, and what a server has",
    async run(visitor) {
      const page = await visitor.open("#/models");
      await page.getByRole("button", { name: "Does it fit? Gemma 4 E2B, Q4_0" }).click();
      await page.getByText("Fits this device.").waitFor();
      await page.getByRole("button", { name: "Show its models" }).click();
      await page.getByRole("button", { name: "Keep capitals:small" }).click();
      await page.getByText("capitals-small.gguf").waitFor();
    },
  },
];
