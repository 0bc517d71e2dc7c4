// Over the shipped engine and the built-in model.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { browserName, launch } from "../chromium.mjs";
import { gemwireServe } from "../gemwireServe.mjs";
import { Visitor } from "../visitor.mjs";

const nano = fileURLToPath(new URL("../../../../testdata/conformance/nano/nano.gguf", import.meta.url));
const conformance = fileURLToPath(new URL("../../../../testdata/conformance", import.meta.url));
const app = fileURLToPath(new URL("../../dist", import.meta.url));

const austria = "What is the capital of Austria?";
const france = "What is the capital of France?";

/** Waits until the service worker has everything that a visit without a network needs. */
const installed = (page) =>
  page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    while (!navigator.serviceWorker.controller) await new Promise((resolve) => setTimeout(resolve, 100));
  });

/** Milliseconds since the page began to load. */
const age = (page) => page.evaluate(() => performance.now());

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;

/** What keeps the browser from offering to install the app, private windows aside. */
async function installability(page) {
  const session = await page.context().newCDPSession(page);
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  return installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito");
}

const modelButton = (page, verb, name) => page.getByRole("button", { name: `${verb} ${name}`, exact: true });

export default [
  {
    name: "real: the first answer, installed, fast the second time, and without a network",
    real: true,
    async run(visitor) {
      const page = await visitor.open();
      visitor.notes.push(`first visit: ready after ${seconds(await age(page))}`);
      assert.match(await visitor.ask(austria), /Vienna/);
      assert.match(await page.locator("main").innerText(), /tokens\/s/);
      await installed(page);
      // Only Chromium can be asked.
      if (browserName === "chromium") assert.deepEqual(await installability(page), []);
      else visitor.notes.push(`whether it can be installed is not asked of ${browserName}`);

      await page.reload();
      await visitor.ready();
      const ready = await age(page);
      await visitor.type(france);
      await page.locator('li[data-role="assistant"] .prose').filter({ hasText: /\w/ }).last().waitFor();
      visitor.notes.push(
        `second visit: ready after ${seconds(ready)}, the first word after ${seconds(await age(page))}`,
      );
      await visitor.answered();
      assert.match(await visitor.lastAnswer(), /Paris/);

      await visitor.context.setOffline(true);
      await visitor.server.close();
      await page.reload();
      await visitor.ready();
      await page.getByRole("link", { name: austria }).first().click();
      assert.match(await visitor.answers().nth(0).innerText(), /Vienna/);
      assert.match(await visitor.ask("What is the capital of Italy?"), /Rome/);
    },
  },
  {
    name: "real: on the GPU: stops, answers again, branches, and keeps it all in the history",
    real: true,
    async run(visitor) {
      const page = await visitor.open("#/settings");
      // A software adapter would not be chosen otherwise.
      await page.getByRole("radiogroup", { name: "Run on" }).getByLabel("GPU").check();
      await page.getByRole("button", { name: "Load the model again" }).click();
      await visitor.go("/");
      await page.getByTitle("Model: nano, ready").waitFor();
      await visitor.type("Tell me a short story.");
      // A story may end before the key is pressed, or before it is seen.
      for (let tries = 1; ; tries++) {
        await visitor.streaming(10_000).catch(() => undefined);
        await page.keyboard.press("Escape");
        await visitor.answered();
        if ((await page.getByText("Stopped.").count()) > 0) break;
        assert.ok(tries < 10, "no answer could be stopped");
        await page.getByRole("button", { name: "Answer again" }).click();
      }
      await page.getByRole("button", { name: "Answer again" }).click();
      await page.getByText("Stopped.").waitFor({ state: "detached" });
      await visitor.answered();
      const story = await visitor.lastAnswer();
      assert.ok(story.length > 10, story);

      assert.match(await visitor.ask(austria), /Vienna/);
      await page.getByRole("button", { name: "Edit the question" }).last().click();
      await page.getByLabel("The question, edited").fill(france);
      await page.getByRole("button", { name: "Ask as a new branch" }).click();
      await page.locator(".prose").getByText("Paris").waitFor();
      await visitor.answered();

      await page.getByRole("button", { name: /^Rename Tell me/ }).click({ force: true });
      await page.getByLabel("Title of the chat").fill("Stories and capitals");
      await page.keyboard.press("Enter");
      await page.reload();
      await visitor.ready();
      await page.getByRole("heading", { name: "Stories and capitals" }).waitFor();
      await page.getByRole("group", { name: "Versions of this question" }).getByText("2/2").waitFor();
      await page.getByRole("button", { name: "Previous question" }).click();
      await page.locator(".prose").getByText("Vienna").waitFor();
      await page.getByRole("button", { name: "Previous answer" }).first().click();
      await page.getByText("Stopped.").waitFor();

      await page.getByLabel("Search the chats").fill("vienna");
      await visitor.chats().filter({ hasText: "Vienna" }).waitFor();
      await visitor.go("/settings");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Export all chats" }).click(),
      ]);
      const archive = JSON.parse(readFileSync(await download.path(), "utf8"));
      assert.deepEqual(
        archive.conversations.map(({ title }) => title),
        ["Stories and capitals"],
      );
    },
  },
  {
    name: "real: a model by its address: what fits, download, pause, resume, use, delete",
    real: true,
    async run(visitor) {
      const page = await visitor.open("#/models");
      page.on("dialog", (dialog) => dialog.accept());
      await page.getByLabel("Address", { exact: true }).fill(`${visitor.server.origin}/slow/small.gguf`);
      await page.getByRole("button", { name: "Does it fit? small.gguf" }).click();
      await page.getByText("Fits on this device.").waitFor();
      await page.getByRole("button", { name: "Download and keep" }).click();
      await page.getByText(/[1-9][\d.]* MB of 12\.5 MB/).waitFor();
      await modelButton(page, "Pause", "small.gguf").click();
      await page.getByText(/Paused at [1-9]/).waitFor();
      await page.reload();
      await page.getByText(/Paused at [1-9]/).waitFor();
      await modelButton(page, "Resume", "small.gguf").click();
      await modelButton(page, "Use", "small.gguf").click();
      await page.getByTitle("Model: small, ready").waitFor();
      assert.match(await visitor.ask("What is the capital of Italy?"), /Rome/);
      await page.reload();
      await page.getByTitle("Model: small, ready").waitFor();
      await visitor.go("/models");
      await modelButton(page, "Delete", "small.gguf").click();
      await modelButton(page, "Delete", "small.gguf").waitFor({ state: "detached" });
    },
  },
  {
    name: "real: a download whose tab dies half way is no model, and goes on where it was",
    real: true,
    async run(visitor) {
      const page = await visitor.open("#/models");
      await page.getByLabel("Address", { exact: true }).fill(`${visitor.server.origin}/slow/small.gguf`);
      await page.getByRole("button", { name: "Download and keep" }).click();
      // What has come is written down each second.
      await page.getByText(/[5-9]\.\d MB of 12\.5 MB/).waitFor();
      const devtools = await visitor.context.newCDPSession(page);
      void devtools.send("Page.crash").catch(() => undefined);
      await page.waitForEvent("crash");
      visitor.server.requests.length = 0;

      const again = await visitor.open("#/models");
      await again.getByText(/Paused at [1-9]/).waitFor();
      assert.equal(await modelButton(again, "Use", "small.gguf").count(), 0);
      await modelButton(again, "Resume", "small.gguf").click();
      await modelButton(again, "Use", "small.gguf").waitFor();
      const starts = visitor.server.requests.map(({ range }) => Number(/^bytes=(\d+)-/.exec(range)?.[1] ?? 0));
      assert.ok(starts.length > 0 && Math.max(...starts) > 1e6, `asked from bytes ${starts}`);
    },
  },
  {
    name: "real: a download waits for the network, and goes on by itself where it was",
    real: true,
    async run(visitor) {
      const page = await visitor.open("#/models");
      await page.getByLabel("Address", { exact: true }).fill(`${visitor.server.origin}/slow/small.gguf`);
      await page.getByRole("button", { name: "Download and keep" }).click();
      await page.getByText(/[3-9]\.\d MB of 12\.5 MB/).waitFor();
      await visitor.context.setOffline(true);
      visitor.server.cut();
      await page.getByText(/Stopped at [1-9][\d.]* MB of 12\.5 MB/).waitFor();
      await page.getByText("This device is offline. Connect it").waitFor();
      assert.equal(await modelButton(page, "Use", "small.gguf").count(), 0);
      visitor.server.requests.length = 0;
      await visitor.context.setOffline(false);
      await modelButton(page, "Use", "small.gguf").waitFor();
      const starts = visitor.server.requests.map(({ range }) => Number(/^bytes=(\d+)-/.exec(range)?.[1] ?? 0));
      assert.ok(starts.length > 0 && Math.max(...starts) > 1e6, `asked from bytes ${starts}`);
    },
  },
  {
    name: "real: storage that is too small ends in a sentence, and the app goes on",
    real: true,
    async run(visitor) {
      const page = await visitor.open("#/models");
      const devtools = await visitor.context.newCDPSession(page);
      await devtools.send("Storage.overrideQuotaForOrigin", { origin: visitor.server.origin, quotaSize: 6e6 });
      await page.getByLabel("Address", { exact: true }).fill(`${visitor.server.origin}/models/small.gguf`);
      await page.getByRole("button", { name: "Download and keep" }).click();
      await page
        .getByRole("alert")
        .filter({ hasText: /room|space|storage/i })
        .waitFor();
      assert.equal(await modelButton(page, "Use", "small.gguf").count(), 0);
      await devtools.send("Storage.overrideQuotaForOrigin", { origin: visitor.server.origin });
      await page.getByRole("button", { name: "Download and keep" }).click();
      await modelButton(page, "Use", "small.gguf").waitFor();
    },
  },
  {
    name: "real: a file from the disk, and the models of gemwire serve",
    real: true,
    async run(visitor) {
      const folder = mkdtempSync(join(tmpdir(), "gemwire-e2e-"));
      await visitor.with({ close: async () => rmSync(folder, { recursive: true, force: true }) });
      copyFileSync(nano, join(folder, "capitals.gguf"));
      const served = join(folder, "served");
      mkdirSync(served);
      copyFileSync(nano, join(served, "cities.gguf"));
      const models = await visitor.with(gemwireServe("--models", served));

      const page = await visitor.open("#/models");
      await page.getByLabel("GGUF file").setInputFiles(join(folder, "capitals.gguf"));
      await page.getByRole("button", { name: "Does it fit? capitals.gguf" }).click();
      await page.getByText("Fits on this device.").waitFor();
      await page.getByRole("button", { name: "Use from the disk" }).click();
      await page.getByTitle("Model: capitals, ready").waitFor();
      assert.match(await visitor.ask(austria), /Vienna/);

      await visitor.go("/models");
      await page.getByLabel("Server", { exact: true }).fill(models.origin);
      await page.getByRole("button", { name: "Show its models" }).click();
      await page.getByRole("button", { name: /^Use cities\S* from the server/ }).click();
      await page.getByTitle(/^Model: cities\S*, ready/).waitFor(); // not the one from the disk, which is ready still
      assert.match(await visitor.ask(france), /Paris/);
      await visitor.go("/models");
      await page.getByLabel("Server", { exact: true }).fill(models.origin);
      await page.getByRole("button", { name: "Show its models" }).click();
      await page.getByRole("button", { name: /^Keep cities/ }).click();
      await modelButton(page, "Use", "cities.gguf").waitFor();
    },
  },
  {
    name: "real: an assistant guesses for the model that it was made for, and for no other",
    real: true,
    async run(visitor) {
      const page = await visitor.open("#/models");
      for (const file of ["e2b.gguf", "assistant/assistant.gguf"]) {
        await page.getByLabel("GGUF file").setInputFiles(join(conformance, file));
        await page.getByRole("button", { name: "Copy into the browser" }).click();
        if (file.startsWith("assistant"))
          await page
            .getByRole("group", { name: "Download assistant.gguf?" })
            .getByText(/^Download/)
            .click();
        await modelButton(page, "Use", basename(file)).waitFor();
      }
      await page.getByLabel("Assistant", { exact: true }).selectOption("assistant.gguf");
      await page.getByText(/^assistant\.gguf cannot guess for nano\. /).waitFor();
      assert.equal(await page.getByLabel("Assistant", { exact: true }).inputValue(), "");

      await modelButton(page, "Use", "e2b.gguf").click();
      await visitor.ready("e2b");
      await visitor.go("/models");
      await page.getByLabel("Assistant", { exact: true }).selectOption("assistant.gguf");
      await page.getByRole("term").filter({ hasText: "Assistant" }).waitFor();
    },
  },
  {
    name: "real: served by gemwire serve, over HTTPS with its own certificate",
    real: true,
    async run(visitor) {
      const secure = await visitor.with(gemwireServe("--https", "--app", app));
      // As a reader who has been warned and goes on; a service worker wants more than that.
      const browser = await visitor.with(launch({ args: ["--ignore-certificate-errors"] }));
      const guest = new Visitor(await browser.newContext({ ignoreHTTPSErrors: true }), secure);
      guest.context.setDefaultTimeout(120_000);
      const page = await guest.open();
      assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), true);
      assert.match(await guest.ask(austria), /Vienna/);
      await installed(page);
      assert.deepEqual(guest.errors, []);
    },
  },
  {
    name: "real: a second tab takes over model and chats",
    real: true,
    async run(visitor) {
      const first = await visitor.open();
      await visitor.ask(austria);
      const second = await visitor.open("", { ready: false });
      await second.getByRole("button", { name: "Use gemwire here" }).click();
      await visitor.ready();
      await first.getByRole("button", { name: "Use gemwire here" }).waitFor();
      await second.getByRole("link", { name: austria }).first().click();
      // What is typed before that chat is there belongs to the one before it.
      await second.locator('li[data-role="user"]').filter({ hasText: austria }).first().waitFor();
      assert.match(await visitor.ask(france), /Paris/);
    },
  },
  {
    name: "real: a browser without a graphics adapter is told what to do, and the built-in model answers all the same",
    real: true,
    async run(visitor) {
      const browser = await visitor.with(launch({ adapter: false }));
      const guest = new Visitor(await browser.newContext(), visitor.server);
      const page = await guest.open("", { ready: false });
      await page.getByText("This browser does not offer WebGPU.").waitFor();
      await page.getByText("Ask your own machine.").waitFor();
      await guest.ready();
      assert.match(await guest.ask(austria), /Vienna/);
      assert.deepEqual(guest.errors, []);
    },
  },
  {
    name: "real: the self-test finds this device healthy",
    real: true,
    async run(visitor) {
      const page = await visitor.open("#/self-test");
      await page.getByRole("button", { name: "Run the self-test" }).click();
      const verdict = page.getByText(/Every kernel agrees|Not everywhere/);
      await verdict.waitFor({ timeout: 600_000 });
      assert.match(await page.locator("main").innerText(), /Every kernel agrees with the CPU/);
      visitor.notes.push(`self-test: ${await verdict.locator("+ p").innerText()}`);
    },
  },
];
