import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** An export of so many chats, of which the newest has so many messages. */
function archiveOf(chats, messages) {
  const messagesOf = (chat, count) =>
    Array.from({ length: count }, (_, index) => ({
      id: `m${chat}-${index}`,
      parentId: index === 0 ? null : `m${chat}-${index - 1}`,
      role: index % 2 === 0 ? "user" : "assistant",
      content:
        index % 2 === 0
          ? `Question ${index} of chat ${chat}`
          : `## Answer ${index}\n\n${"Words and *more* words. ".repeat(20)}`,
      status: "done",
      createdAt: index,
    }));
  return JSON.stringify({
    format: "gemwire-chats",
    version: 1,
    conversations: Array.from({ length: chats }, (_, chat) => ({
      id: `c${chat}`,
      title: `Chat ${chat}`,
      leafId: `m${chat}-${(chat === 0 ? messages : 2) - 1}`,
      createdAt: chats - chat,
      updatedAt: chats - chat,
      messages: messagesOf(chat, chat === 0 ? messages : 2),
    })),
  });
}

/** Notes how many messages came into the page each time that some came. */
function watchMessages() {
  globalThis.mounted = [];
  const messagesIn = (node) =>
    node instanceof Element ? Number(node.matches("li[data-role]")) + node.querySelectorAll("li[data-role]").length : 0;
  new MutationObserver((records) => {
    const came = records.flatMap(({ addedNodes }) => [...addedNodes]).reduce((sum, node) => sum + messagesIn(node), 0);
    if (came > 0) globalThis.mounted.push(came);
  }).observe(document.getElementById("main"), { childList: true, subtree: true });
}

const atEnd = (scroller) => scroller.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight < 60);

export default [
  {
    name: "history: chats are there after a reload, newest first",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("about apples");
      await visitor.go("/");
      await page.getByText("Ask your own machine.").waitFor();
      await visitor.ask("about pears");
      await page.reload();
      await visitor.ready();
      await visitor.chats().nth(1).waitFor();
      assert.match((await visitor.chats().allInnerTexts()).join("|"), /about pears.*\|about apples/s);
      await page.locator(".prose").getByText("You said: about pears").waitFor();
      await page.getByRole("link", { name: "about apples" }).first().click();
      await page.locator(".prose").getByText("You said: about apples").waitFor();
    },
  },
  {
    name: "history: an answer that a reload interrupts is kept and says so",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.type("/long");
      await page.locator('li[data-status="streaming"] .prose').filter({ hasText: "word" }).waitFor();
      await page.waitForTimeout(2500);
      await page.reload();
      await visitor.ready();
      await page.getByText("The page was closed before this answer ended.").waitFor();
      assert.match(await visitor.lastAnswer(), /word/);
      await page.getByRole("button", { name: "Answer again" }).waitFor();
    },
  },
  {
    name: "history: search finds words in answers, questions and titles",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("/md");
      await visitor.go("/");
      await page.getByText("Ask your own machine.").waitFor();
      await visitor.ask("Größe und Gewicht");
      await page.getByLabel("Search the chats").fill("fridge");
      await page.getByText("1 chat found").waitFor({ state: "attached" });
      assert.match(await visitor.chats().first().innerText(), /\/md[\s\S]*fridge/);
      await page.getByLabel("Search the chats").fill('grosse OR "');
      await page.getByText("No chat contains these words.").waitFor();
      await page.getByLabel("Search the chats").fill("grö");
      await visitor.chats().filter({ hasText: "Größe" }).waitFor();
      await page.getByLabel("Search the chats").fill("");
      await page.waitForFunction(() => document.querySelectorAll('ul[aria-label="Chats"] > li').length === 2);
    },
  },
  {
    name: "history: rename",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("question");
      await page.getByRole("button", { name: "Rename question" }).click({ force: true });
      await page.getByLabel("Title of the chat").fill("A better name");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "A better name" }).waitFor();
      await visitor.ask("second");
      await page.reload();
      await visitor.ready();
      await page.getByRole("heading", { name: "A better name" }).waitFor();
    },
  },
  {
    name: "history: storage that is full ends in a sentence, and the chat goes on",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("kept");
      const devtools = await visitor.context.newCDPSession(page);
      await devtools.send("Storage.overrideQuotaForOrigin", { origin: visitor.server.origin, quotaSize: 1 });
      await visitor.type(`/system and what is too long to be kept: ${"much".repeat(10_000)}`);
      await page.getByText("The history is not saved: The browser's storage is full.").waitFor();
      await visitor.answered();
      assert.equal(await visitor.ask("and on"), "You said: and on");
      await devtools.send("Storage.overrideQuotaForOrigin", { origin: visitor.server.origin });
      await page.reload();
      await visitor.ready();
      await page.locator(".prose").getByText("You said: kept").waitFor();
    },
  },
  {
    name: "history: delete, and undo",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("keep me");
      await page.getByRole("button", { name: "Delete keep me" }).click({ force: true });
      await page.getByText("Your chats appear here.").waitFor();
      await page.getByText("Ask your own machine.").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.locator(".prose").getByText("You said: keep me").waitFor();
      await page.getByRole("button", { name: "Delete keep me" }).click({ force: true });
      await page.getByText("Your chats appear here.").waitFor();
      await page.reload();
      await visitor.ready();
      await page.getByText("Your chats appear here.").waitFor();
      assert.equal(await visitor.chats().count(), 0);
    },
  },
  {
    name: "history: export and import, in another browser and twice",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("travel with me");
      await page.getByRole("button", { name: "Answer again" }).click();
      await page.getByText("2/2").waitFor();
      await visitor.answered();
      await visitor.go("/settings");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Export all chats" }).click(),
      ]);
      assert.match(download.suggestedFilename(), /^gemwire-chats-\d{4}-\d\d-\d\d\.json$/);
      const path = await download.path();
      const archive = JSON.parse(readFileSync(path, "utf8"));
      assert.equal(archive.conversations.length, 1);
      assert.equal(archive.conversations[0].messages.length, 3);

      const file = { name: "chats.json", mimeType: "application/json", buffer: readFileSync(path) };
      await page.getByLabel("File with chats").setInputFiles(file);
      await page.getByText("All of these chats are already here.").waitFor();

      const other = await visitor.context.browser().newContext();
      const there = await other.newPage();
      await there.goto(`${visitor.server.origin}/#/settings`);
      await there.getByLabel("File with chats").setInputFiles(file);
      await there.getByText("1 chat imported.").waitFor();
      await there.getByRole("link", { name: "travel with me" }).first().click();
      await there.getByText("2/2").waitFor();
      await other.close();
    },
  },
  {
    name: "history: of many chats and many messages, those in sight are laid out",
    async run(visitor) {
      const page = await visitor.open("#/settings");
      const buffer = Buffer.from(archiveOf(400, 500));
      await page.getByLabel("File with chats").setInputFiles({ name: "x.json", mimeType: "application/json", buffer });
      await page.getByText("400 chats imported.").waitFor();
      const list = page.getByRole("list", { name: "Chats" }).first();
      await visitor.chats().first().waitFor();
      assert.ok((await visitor.chats().count()) < 60, `${await visitor.chats().count()} of 400 rows`);
      const place = (row) => row.evaluate((e) => [e.ariaPosInSet ?? e.getAttribute("aria-posinset"), e.ariaSetSize]);
      assert.deepEqual((await place(visitor.chats().first())).map(Number), [1, 400]);

      // By keys through the rows, and one with the focus stays when it is scrolled away.
      const link = (number) => list.getByRole("link", { name: new RegExp(`^Chat ${number}\\b`) });
      await link(30).or(link(0)).first().waitFor();
      await list.evaluate((e) => e.parentElement.scrollTo(0, 200 * 50));
      await link(205).focus();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      assert.match(await page.evaluate(() => document.activeElement.textContent), /^Chat 206/);
      await list.evaluate((e) => e.parentElement.scrollTo(0, 0));
      await link(0).waitFor();
      assert.match(await page.evaluate(() => document.activeElement.textContent), /^Chat 206/);

      await page.evaluate(watchMessages);
      await link(0).click();
      const thread = page.getByRole("region", { name: "Conversation" });
      const whole = thread.locator("li[data-role]:not([data-far])");
      await thread.getByRole("heading", { name: "Answer 499" }).waitFor();
      await thread.locator("li[data-far]").first().waitFor({ state: "attached" });
      // Those in sight come first, the others when the page is idle, and nobody sees them come.
      await page.waitForFunction(() => document.querySelectorAll("li[data-role]").length === 500);
      assert.equal(await atEnd(thread), true);
      const [mounted, largest] = await page.evaluate(() => [globalThis.mounted[0], Math.max(...globalThis.mounted)]);
      assert.ok(mounted < 100, `${mounted} of 500 messages were there at once`);
      assert.ok(largest < 300, `${largest} messages came at once`);
      assert.ok((await whole.count()) < 60, `${await whole.count()} of 500 messages`);
      // What is not laid out can be found and read out.
      assert.match((await thread.locator("li[data-far]").nth(101).textContent()) ?? "", /Words and \*more\* words/);

      await thread.evaluate((e) => e.scrollTo(0, 0));
      await thread.getByRole("heading", { name: "Answer 1", exact: true }).waitFor();
      await page.waitForFunction(() => document.querySelectorAll("li[data-role]:not([data-far])").length < 60);
      await thread.evaluate((e) => e.scrollTo(0, e.scrollHeight / 2));
      await page.waitForFunction(() => {
        const scroller = document.querySelector("[data-scroller]").getBoundingClientRect();
        const seen = [...document.querySelectorAll("li[data-role]")].filter((item) => {
          const { top, bottom } = item.getBoundingClientRect();
          return bottom > scroller.top && top < scroller.bottom;
        });
        return seen.length > 0 && seen.every((item) => item.dataset.far === undefined);
      });
      // What is laid out above does not move what is read.
      const steady = await thread.evaluate(async (e) => {
        const item = document.elementFromPoint(e.getBoundingClientRect().x + 300, e.getBoundingClientRect().y + 300);
        const before = item.getBoundingClientRect().top;
        for (let frame = 0; frame < 20; frame++) await new Promise((done) => requestAnimationFrame(done));
        return Math.abs(item.getBoundingClientRect().top - before);
      });
      assert.ok(steady < 2, `moved by ${steady} pixels`);
    },
  },
  {
    name: "history: a file that is no export is refused with a sentence",
    async run(visitor) {
      const page = await visitor.open("#/settings");
      for (const [text, sentence] of [
        ["{", "This is not a JSON file."],
        ["{}", "This file was not exported by gemwire."],
        ['{"format":"gemwire-chats","version":1,"conversations":[{}]}', "This file is damaged"],
      ]) {
        await page
          .getByLabel("File with chats")
          .setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from(text) });
        await page.getByText(sentence).waitFor();
      }
    },
  },
];
