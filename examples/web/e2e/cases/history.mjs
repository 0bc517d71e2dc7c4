import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

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
      await page.getByText("The page went away before this answer ended.").waitFor();
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
      await page.getByText("1 chats found").waitFor({ state: "attached" });
      assert.match(await visitor.chats().first().innerText(), /\/md[\s\S]*fridge/);
      await page.getByLabel("Search the chats").fill("grosse OR \"");
      await page.getByText("No chat has these words.").waitFor();
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
      await visitor.type(`/system and what is too long to be kept: ${"much ".repeat(8000)}`);
      await page.getByText("The history is not kept: The browser's storage is full.").waitFor();
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
      await page.getByText("Your chats will be listed here.").waitFor();
      await page.getByText("Ask your own machine.").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.locator(".prose").getByText("You said: keep me").waitFor();
      await page.getByRole("button", { name: "Delete keep me" }).click({ force: true });
      await page.getByText("Your chats will be listed here.").waitFor();
      await page.reload();
      await visitor.ready();
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
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export all chats" }).click()]);
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
    name: "history: a file that is no export is refused with a sentence",
    async run(visitor) {
      const page = await visitor.open("#/settings");
      for (const [text, sentence] of [["{", "This is not a JSON file."], ["{}", "This file was not exported by gemwire."], ['{"format":"gemwire-chats","version":1,"conversations":[{}]}', "This file is damaged"]]) {
        await page.getByLabel("File with chats").setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from(text) });
        await page.getByText(sentence).waitFor();
      }
    },
  },
];
