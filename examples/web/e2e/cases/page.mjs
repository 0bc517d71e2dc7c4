// The frame around the chat: notes, and the list of models.
import assert from "node:assert/strict";

/** Whether two things on the page lie over each other. */
async function overlap(one, other) {
  const [a, b] = [await one.boundingBox(), await other.boundingBox()];
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** Notes in each frame, from the first paint on, where the words of an empty chat stand, and how much moves in all. */
function watchWords() {
  globalThis.places = new Set();
  globalThis.shifted = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) globalThis.shifted += value;
  }).observe({ type: "layout-shift", buffered: true });
  const look = () => {
    const words = [...document.querySelectorAll("h2")].find(({ textContent }) =>
      textContent.startsWith("Ask your own"),
    );
    if (words) globalThis.places.add(words.getBoundingClientRect().top);
    requestAnimationFrame(look);
  };
  look();
}

export default [
  ...[
    { width: 412, height: 823 },
    { width: 1280, height: 800 },
  ].map((viewport) => ({
    name: `page: what loads moves nothing that is there, ${viewport.width} px`,
    viewport,
    async run(visitor) {
      await visitor.context.addInitScript(watchWords);
      const page = await visitor.open();
      const places = await page.evaluate(() => [...globalThis.places]);
      assert.equal(places.length, 1, `the words of an empty chat stood at ${places} px`);
      const shifted = await page.evaluate(() => globalThis.shifted);
      assert.ok(shifted < 0.02, `what moved adds up to ${shifted}`);
    },
  })),
  {
    name: "page: the first paint, with its styles, needs no request but the page's own",
    async run(visitor) {
      await visitor.context.route("**/assets/**", (route) => route.abort());
      const page = await visitor.open("", { ready: false });
      const words = page.getByRole("heading", { name: "Ask your own machine." });
      await words.waitFor();
      assert.equal(await words.evaluate((heading) => getComputedStyle(heading).fontSize), "36px");
      assert.equal(await page.locator("#first").evaluate((shell) => getComputedStyle(shell).display), "flex");
    },
  },
  {
    name: "page: notes cover neither messages nor the field, and warnings look like warnings",
    async run(visitor) {
      const page = await visitor.open();
      for (const question of ["one", "two", "three", "four"]) {
        await visitor.go("/");
        await page.getByText("Ask your own machine.").waitFor();
        await visitor.ask(question);
      }
      const field = page.getByRole("form", { name: "Question" });
      const before = await field.boundingBox();
      for (const question of ["one", "two", "three"])
        await page.getByRole("button", { name: `Delete ${question}` }).click({ force: true });
      const notes = page.locator("[data-look]");
      await notes.filter({ hasText: "three" }).waitFor();
      assert.equal(await notes.count(), 2);
      assert.deepEqual(await field.boundingBox(), before);
      for (const part of [
        page.getByRole("region", { name: "Conversation" }),
        field,
        page.getByRole("heading", { level: 1 }),
      ])
        for (const note of await notes.all()) assert.equal(await overlap(note, part), false);

      await visitor.go("/settings");
      await page
        .getByLabel("File with chats")
        .setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from("{") });
      const warning = notes.filter({ hasText: "This is not a JSON file." });
      await warning.waitFor();
      assert.equal(await warning.getAttribute("data-look"), "warning");
      assert.equal(await notes.count(), 2);
    },
  },
  {
    name: "page: the model's name opens a list, and another model answers in the same chat",
    async run(visitor) {
      const page = await visitor.open("#/models");
      await page
        .getByLabel("GGUF file")
        .setInputFiles({ name: "small.gguf", mimeType: "", buffer: Buffer.from("GGUF") });
      await page.getByRole("button", { name: "Copy into the browser" }).click();
      await page.getByRole("button", { name: "Use small.gguf", exact: true }).waitFor();
      await visitor.go("/");
      await visitor.ready();
      await visitor.ask("hello");
      const { hash } = new URL(page.url());
      const chip = page.getByRole("button", { name: /Change the model/ });
      const list = page.getByRole("dialog", { name: "Models on this device" });
      await chip.click();
      assert.equal(await list.getByRole("button", { name: /^nano/ }).getAttribute("aria-current"), "true");
      await page.keyboard.press("Escape");
      await list.waitFor({ state: "hidden" });
      assert.match(await page.evaluate(() => document.activeElement?.textContent), /Change the model/);
      await chip.click();
      await list.getByRole("button", { name: /^small/ }).click();
      await page.getByTitle("Model: small, ready").waitFor();
      assert.equal(await list.isVisible(), false);
      assert.equal(new URL(page.url()).hash, hash);
      await visitor.ask("again");
      assert.match(await visitor.answers().last().innerText(), /small/);
      await chip.click();
      await list.getByRole("link", { name: "More models, and details" }).click();
      await page.getByRole("heading", { name: "Models", exact: true }).waitFor();
    },
  },
];
