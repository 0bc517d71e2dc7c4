import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const picture = fileURLToPath(new URL("../../public/icons/icon-512.png", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Serious and critical findings of axe-core, as lines. */
async function findings(page) {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join(" | ")}`,
      );
  });
}

const screens = {
  "an empty chat": (visitor) => visitor.page.getByText("Ask your own machine.").waitFor(),
  "a chat": async (visitor) => {
    await visitor.ask("/md");
    await visitor.page.locator(".hljs-keyword").first().waitFor();
    await visitor.ask("/formulas");
    await visitor.page.locator(".katex-display").waitFor();
    await visitor.ask("/think");
    await visitor.ask("/weather");
    await visitor.page.getByRole("button", { name: "Edit the question" }).last().click();
  },
  "a message with a picture": async (visitor) => {
    await visitor.page.keyboard.press("Escape");
    await visitor.page.getByLabel("Images or recordings", { exact: true }).setInputFiles([picture]);
    await visitor.ask("and this?");
    await visitor.page.getByLabel("Images or recordings", { exact: true }).setInputFiles([picture]);
    await visitor.page.getByRole("list", { name: "Attached" }).waitFor();
  },
  "the list of models": async (visitor) => {
    await visitor.page.getByRole("button", { name: /Change the model/ }).click();
    await visitor.page.getByRole("dialog", { name: "Models on this device" }).waitFor();
  },
  "the options of a chat": (visitor) => visitor.page.getByRole("button", { name: "Options of this chat" }).click(),
  "a form of the answers": async (visitor) => {
    const { page } = visitor;
    await page.getByRole("radio", { name: "JSON schema" }).check();
    await page.getByLabel("Schema", { exact: true }).fill("{");
    await page.getByText("The schema is not JSON").waitFor();
    await page.getByLabel("Schema", { exact: true }).fill('{"type": "array"}');
    await page.getByText("The schema is not JSON").waitFor({ state: "detached" });
  },
  "answers as a table and a tree": async (visitor) => {
    await visitor.ask("/table");
    await visitor.ask("/tree");
    await visitor.page.getByRole("figure", { name: "Tree" }).waitFor();
    await visitor.page.getByRole("button", { name: "Show JSON" }).last().click();
  },
  "the models": async (visitor) => {
    await visitor.go("/models");
    await visitor.page.getByRole("button", { name: "Does it fit? Gemma 4 E2B, Q4_0" }).click();
    await visitor.page.getByRole("button", { name: "Show its models" }).click();
    await visitor.page.getByText("capitals:small", { exact: true }).waitFor();
  },
  "examples to learn from": async (visitor) => {
    await visitor.go("/fine-tune");
    await visitor.page.getByLabel("File with examples").setInputFiles({
      name: "facts.jsonl",
      mimeType: "",
      buffer: Buffer.from(`${'{"prompt":"Who?","completion":"Me."}\n'.repeat(24)}{broken\n`),
    });
    await visitor.page.getByRole("button", { name: "Go to line 25" }).waitFor();
    await visitor.page.getByText("Advanced", { exact: true }).click();
    await visitor.page.getByLabel(/^Skip the/).check();
  },
  "a plan": (visitor) =>
    visitor.page
      .getByRole("button", { name: "Make the plan" })
      .click()
      .then(() => visitor.page.getByRole("button", { name: "Start training" }).waitFor()),
  "a run that has ended, and two answers": async (visitor) => {
    await visitor.page.getByRole("button", { name: "Start training" }).click();
    await visitor.page.getByRole("button", { name: "Chat with it" }).waitFor();
    await visitor.page.getByLabel("Question for both").fill("Who?");
    await visitor.page.getByRole("button", { name: "Ask both" }).click();
    await visitor.page
      .getByRole("article", { name: "Answer of nano with My adapter" })
      .getByText("You said: Who?")
      .waitFor();
    await visitor.page.getByText("As a table").click();
  },
  "the self-test": async (visitor) => {
    await visitor.go("/self-test");
    await visitor.page.getByRole("button", { name: "Run the self-test" }).click();
    await visitor.page.getByText("Report for a bug report").waitFor();
  },
  "the settings": (visitor) => visitor.go("/settings"),
  "the licenses": async (visitor) => {
    await visitor.page.getByRole("link", { name: "Licenses of gemwire" }).click();
    await visitor.page.getByText("npm react-dom").first().waitFor();
  },
};

const looks = [
  { theme: "light", width: 1280, height: 800 },
  { theme: "dark", width: 1280, height: 800 },
  { theme: "dark", width: 320, height: 640 },
];

/** How many pixels of the document lie beyond the window: its parts scroll, the document does not. */
async function overflow(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
    return [scrollWidth - clientWidth, scrollHeight - clientHeight];
  });
}

const sweep = ({ theme, width, height }) => ({
  name: `accessibility: axe finds nothing serious, ${theme}, ${width} px`,
  viewport: { width, height },
  async run(visitor) {
    const page = await visitor.open();
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    for (const [name, go] of Object.entries(screens)) {
      await go(visitor);
      assert.deepEqual(await findings(page), [], name);
      assert.deepEqual(await overflow(page), [0, 0], `${name} is larger than the window`);
      if (name === "a form of the answers") await page.getByRole("button", { name: "Close" }).click();
    }
  },
});

export default [
  ...looks.map(sweep),
  {
    name: "accessibility: axe finds nothing serious where another tab owns, or WebGPU is missing",
    async run(visitor) {
      await visitor.open("", { script: "no-webgpu", ready: false });
      await visitor.page.getByText("This browser does not offer WebGPU.").waitFor();
      assert.deepEqual(await findings(visitor.page), []);
      await visitor.go("/settings");
      await visitor.page.getByText("(this one)").waitFor();
      assert.deepEqual(await findings(visitor.page), []);
      await visitor.open("", { ready: false });
      await visitor.page.getByText("gemwire is open in another tab.").waitFor();
      assert.deepEqual(await findings(visitor.page), []);
    },
  },
  {
    name: "accessibility: the keyboard alone is enough",
    async run(visitor) {
      const page = await visitor.open("#/settings");
      await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Skip to the page");
      await page.keyboard.press("Enter");
      assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
      await visitor.go("/");
      await page.waitForFunction(() => document.activeElement?.id === "composer");
      await visitor.ready();
      await page.keyboard.type("typed alone");
      await page.keyboard.press("Enter");
      await page.locator(".prose").getByText("You said: typed alone").waitFor();
      await page.keyboard.press("Alt+k");
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Search the chats");
      await page.keyboard.press("Alt+c");
      await page.waitForFunction(() => document.activeElement?.id === "composer");
      await page.keyboard.press("Alt+n");
      await page.getByText("Ask your own machine.").waitFor();
      await page.waitForFunction(() => document.activeElement?.id === "composer");
    },
  },
  {
    name: "accessibility: on a phone the drawer opens, keeps the focus and closes",
    viewport: { width: 320, height: 640 },
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("hello");
      await page.getByRole("button", { name: "Chats and pages" }).click();
      const drawer = page.getByRole("dialog", { name: "Chats and pages" });
      await drawer.getByRole("link", { name: "hello" }).waitFor();
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "hidden" });
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Chats and pages");
      await page.getByRole("button", { name: "Chats and pages" }).click();
      await drawer.getByRole("link", { name: "Settings" }).click();
      await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
      await drawer.waitFor({ state: "hidden" });
    },
  },
];
