import assert from "node:assert/strict";

export default [
  {
    name: "engine: too little memory ends in a sentence with a smaller plan that works",
    async run(visitor) {
      const page = await visitor.open("", { script: "oom", ready: false });
      await page.getByText("This device has too little memory for the model.").waitFor();
      await page
        .getByRole("button", { name: "Load with 4,096 tokens of context and at most 1.9 GB of GPU memory" })
        .click();
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
    name: "engine: a browser without WebGPU has a welcome and a line, small models answer, and chats can be read",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("written before");
      const chat = new URL(page.url()).hash;
      await page.evaluate(() => localStorage.setItem("fake", "no-webgpu"));
      await page.reload();
      await visitor.ready();
      await page.getByText("This browser does not offer WebGPU. nano answers on the CPU.").waitFor();
      await page.locator(".prose").getByText("You said: written before").waitFor();
      await visitor.go("/");
      await page.getByText("Ask your own machine.").waitFor();
      await page.getByText("This browser does not offer WebGPU. nano answers on the CPU.").waitFor();
      assert.equal(await page.getByText("(this one)").count(), 0);
      await page.getByRole("link", { name: "What to do" }).click();
      await page.getByText("(this one)").waitFor();
      await visitor.go(chat.slice(1));
      assert.equal(await visitor.ask("meanwhile"), "You said: meanwhile");
      await page.evaluate(() => {
        const settings = JSON.parse(localStorage.getItem("gemwire.settings"));
        localStorage.setItem(
          "gemwire.settings",
          JSON.stringify({ ...settings, state: { ...settings.state, model: { kind: "stored", name: "large.gguf" } } }),
        );
      });
      await page.reload();
      await page.getByText("This model needs a GPU, and this browser offers none.").waitFor();
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
    name: "models: a model of gigabytes is looked at and asked about first, and comes where it was asked for",
    async run(visitor) {
      const page = await visitor.open("#/models");
      const entry = page.getByRole("listitem").filter({ hasText: "Gemma 4 E2B, Q4_0" });
      await entry.getByRole("button", { name: "Download Gemma 4 E2B, Q4_0" }).click();
      const question = entry.getByRole("group", { name: "Download Gemma 4 E2B, Q4_0?" });
      await question.getByText(/Fits on this device\. .* of GPU memory/).waitFor();
      assert.equal(await question.evaluate((element) => element === document.activeElement), true);
      await question.getByRole("button", { name: "Cancel" }).click();
      await question.waitFor({ state: "detached" });
      assert.equal(await page.getByRole("progressbar").count(), 0);
      await entry.getByRole("button", { name: "Download Gemma 4 E2B, Q4_0" }).click();
      await question.getByRole("button", { name: "Download 3.3 GB" }).click();
      await entry.getByRole("progressbar").waitFor();
      await page
        .getByRole("status")
        .filter({ hasText: /is being copied to this device/ })
        .waitFor({ state: "attached" });
      assert.equal(await page.getByRole("progressbar").count(), 1);
      await page.getByText(/\.gguf is on this device\./).waitFor({ state: "attached" });
      await entry.getByRole("button", { name: "Use Gemma 4 E2B, Q4_0 now" }).waitFor();
    },
  },
  {
    name: "models: what does not fit, is no model or cannot be reached is refused where it was asked for",
    async run(visitor) {
      const page = await visitor.open("#/models");
      const form = page.locator("form").filter({ has: page.getByLabel("Address", { exact: true }) });
      const ask = async (name) => {
        await page.getByLabel("Address", { exact: true }).fill(`https://example.org/${name}.gguf`);
        await form.getByRole("button", { name: "Download and keep" }).click();
      };
      await ask("huge");
      await form.getByText("Too large for this device.").waitFor();
      await form.getByRole("button", { name: "Cancel" }).click();
      await ask("broken");
      const refusal = form.getByRole("alert").filter({ hasText: "gemwire cannot read this file as a model." });
      await refusal.waitFor();
      // The parser's words are there for a report, and not on the page.
      assert.equal(await refusal.getByText("gguf: header at byte 8").isVisible(), false);
      await refusal.getByText("Details").click();
      await refusal.getByText("gguf: header at byte 8").waitFor();
      await ask("away");
      await form.getByText("The server could not be reached. Check the address").waitFor();
      await visitor.context.setOffline(true);
      await ask("away-again");
      await form.getByText("This device is offline. Connect it").waitFor();
      await visitor.context.setOffline(false);
      assert.equal(await page.getByRole("progressbar").count(), 0);
    },
  },
  {
    name: "models: a bad file does not take the open model away",
    async run(visitor) {
      const page = await visitor.open("#/models");
      const add = async (name) => {
        await page.getByLabel("GGUF file").setInputFiles({ name, mimeType: "", buffer: Buffer.from("GGUF") });
        await page.getByRole("button", { name: "Use from the disk" }).click();
      };
      await add("broken.gguf");
      await page.getByRole("alert").filter({ hasText: "broken could not be loaded. gemwire cannot read" }).waitFor();
      await page.getByText("nano is still open.").waitFor();
      assert.equal(await visitor.ask("still here"), "You said: still here");
      await page.getByRole("button", { name: "Keep nano" }).click();
      await page.getByText("nano is still open.").waitFor({ state: "detached" });

      // What only shows while the weights are read brings the one before back.
      await visitor.go("/models");
      const torn = { name: "small-torn.gguf", mimeType: "", buffer: Buffer.from("GGUF") };
      await page.getByLabel("GGUF file").setInputFiles(torn);
      await page.getByRole("button", { name: "Copy into the browser" }).click();
      await page.getByRole("button", { name: "Use small-torn.gguf", exact: true }).click();
      await page.getByText("nano is still open.").waitFor();
      await visitor.ready();
      await page.getByTitle("Model: nano, ready").waitFor();
      assert.equal(await visitor.ask("and again"), "You said: and again");
      await page.reload();
      await page.getByTitle("Model: nano, ready").waitFor();
    },
  },
  {
    name: "models: the empty chat says where the model runs only where one does",
    async run(visitor) {
      const page = await visitor.open("#/models");
      const file = { name: "small.gguf", mimeType: "", buffer: Buffer.from("GGUF") };
      await page.getByLabel("GGUF file").setInputFiles(file);
      await page.getByRole("button", { name: "Copy into the browser" }).click();
      await page.getByRole("button", { name: "Use small.gguf", exact: true }).click();
      await page.getByText("The model small runs here, on your GPU.").waitFor();
      await page.evaluate(() => localStorage.setItem("fake", "oom"));
      await page.reload();
      await page.getByText("The model small is not open.").waitFor();
      assert.equal(await page.getByText("runs here").count(), 0);
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
      await page.getByText("Fits on this device.").waitFor();
      await page.getByRole("button", { name: "Show its models" }).click();
      await page.getByRole("button", { name: "Keep capitals:small" }).click();
      await page.getByText("capitals-small.gguf", { exact: true }).waitFor();
    },
  },
];
