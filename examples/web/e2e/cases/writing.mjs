import assert from "node:assert/strict";

const field = (page) => page.getByLabel("Message", { exact: true });
const focused = (page) =>
  page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute("aria-label"));

/** Presses Enter as an input method does, which makes characters of what was typed. */
const composed = (locator, event) =>
  locator.evaluate(
    (element, more) =>
      element.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...more })),
    event,
  );

export default [
  {
    name: "writing: a draft stays with its chat, over the settings and a reload",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("first");
      const chat = new URL(page.url()).hash.slice(1);
      await field(page).fill("and then");
      await visitor.go("/settings");
      await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
      await visitor.go(chat);
      await field(page).waitFor();
      assert.equal(await field(page).inputValue(), "and then");
      await visitor.go("/");
      await page.getByText("Ask your own machine.").waitFor();
      assert.equal(await field(page).inputValue(), "");
      await field(page).fill("something new");
      await page.reload();
      await visitor.ready();
      assert.equal(await field(page).inputValue(), "something new");
      await visitor.go(chat);
      await page.locator(".prose").getByText("You said: first").waitFor();
      assert.equal(await field(page).inputValue(), "and then");
      await field(page).press("Enter");
      await page.locator(".prose").getByText("You said: and then").waitFor();
      assert.equal(await field(page).inputValue(), "");
    },
  },
  {
    name: "writing: Esc out of an edit goes back to where it began, and Enter sends there as elsewhere",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("one");
      await page.getByRole("button", { name: "Edit the question" }).click();
      await page.keyboard.press("Escape");
      assert.equal(await focused(page), "Edit the question");
      await field(page).press("ArrowUp");
      await page.getByLabel("The question, edited").waitFor();
      await page.keyboard.press("Escape");
      assert.equal(await focused(page), "composer");

      await visitor.go("/settings");
      await page.getByLabel("Enter sends the message").uncheck();
      await page.goBack();
      await page.getByRole("button", { name: "Edit the question" }).click();
      const edit = page.getByLabel("The question, edited");
      await edit.fill("two");
      await edit.press("Enter");
      await edit.pressSequentially("three");
      assert.equal(await edit.inputValue(), "two\nthree");
      await edit.press("Shift+Enter");
      await page.locator(".prose").getByText("You said: two").waitFor();
      assert.equal(await focused(page), "composer");
    },
  },
  {
    name: "writing: Enter that ends a composition sends nothing",
    async run(visitor) {
      const page = await visitor.open();
      await field(page).fill("にほん");
      for (const event of [{ isComposing: true }, { keyCode: 229 }]) await composed(field(page), event);
      await visitor.ready();
      assert.equal(await field(page).inputValue(), "にほん");
      await field(page).press("Enter");
      await page.locator(".prose").getByText("You said: にほん").waitFor();
      await page.getByRole("button", { name: "Edit the question" }).click();
      for (const event of [{ isComposing: true }, { keyCode: 229 }])
        await composed(page.getByLabel("The question, edited"), event);
      assert.equal(await page.getByLabel("The question, edited").count(), 1);
    },
  },
  {
    name: "writing: the message field has the focus on load",
    async run(visitor) {
      const page = await visitor.open();
      assert.equal(await focused(page), "composer");
      await visitor.ask("one");
      await page.reload();
      await visitor.ready();
      await page.waitForFunction(() => document.activeElement?.id === "composer");
    },
  },
  {
    name: "writing: no keyboard opens by itself where fingers type, and all that they press is 44 px",
    viewport: { width: 360, height: 720 },
    touch: true,
    async run(visitor) {
      const page = await visitor.open();
      assert.equal(await page.evaluate(() => document.activeElement === document.body), true);
      await visitor.ask("/md");
      await visitor.ask("/think");
      assert.deepEqual(await small(page), []);
      await page.getByRole("button", { name: /Change the model/ }).tap();
      await page.getByRole("dialog", { name: "Models on this device" }).waitFor();
      assert.deepEqual(await small(page), []);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Options of this chat" }).tap();
      assert.deepEqual(await small(page), []);
      await page.getByRole("button", { name: "Close" }).tap();
      await page.getByRole("button", { name: "Chats and pages" }).tap();
      await page.getByRole("dialog", { name: "Chats and pages" }).getByRole("link", { name: "/md" }).waitFor();
      assert.deepEqual(await small(page), []);
      for (const hash of ["/settings", "/models", "/fine-tune"]) {
        await visitor.go(hash);
        await page.getByRole("heading", { level: 2 }).first().waitFor();
        assert.deepEqual(await small(page), [], hash);
      }
    },
  },
];

/** What can be pressed and is smaller than 44 px, links in running text aside. A box to check counts with its label. */
const small = (page) =>
  page.evaluate(() => {
    const all = document.querySelectorAll("button, summary, select, textarea, input, nav a, li > a");
    return [...all].flatMap((element) => {
      const target = /^(checkbox|radio)$/.test(element.type) ? element.closest("label") : element;
      if (element.matches(".sr-only") || !target.checkVisibility()) return [];
      const { width, height } = target.getBoundingClientRect();
      const name = element.getAttribute("aria-label") ?? target.textContent;
      return width < 44 || height < 44 ? [`${name}: ${width} × ${height}`] : [];
    });
  });
