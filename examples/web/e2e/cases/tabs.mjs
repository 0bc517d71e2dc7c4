import assert from "node:assert/strict";

const takeOver = (page) => page.getByRole("button", { name: "Use gemwire here" });

export default [
  {
    name: "tabs: the second says so and can take over, with the chats",
    async run(visitor) {
      const first = await visitor.open();
      await visitor.ask("from the first tab");
      const second = await visitor.open("", { ready: false });
      await takeOver(second).waitFor();
      await takeOver(second).click();
      await visitor.ready();
      await takeOver(first).waitFor();
      await second.getByRole("link", { name: "from the first tab" }).first().click();
      await second.locator(".prose").getByText("You said: from the first tab").waitFor();
      await visitor.ask("from the second tab");
      await takeOver(first).click();
      visitor.page = first;
      await visitor.ready();
      await takeOver(second).waitFor();
      await first.locator(".prose").getByText("You said: from the second tab").waitFor();
    },
  },
  {
    name: "tabs: an answer under way is stopped and kept when another tab takes over",
    async run(visitor) {
      const first = await visitor.open();
      await visitor.type("/long");
      await first.locator('li[data-status="streaming"] .prose').filter({ hasText: "word word" }).waitFor();
      const second = await visitor.open("", { ready: false });
      await takeOver(second).click();
      await visitor.ready();
      await second.getByRole("link", { name: "/long" }).first().click();
      await second.getByText("Stopped.").waitFor();
      assert.match(await visitor.lastAnswer(), /word word/);
    },
  },
  {
    name: "tabs: when the owner is closed, the next one goes on by itself",
    async run(visitor) {
      const first = await visitor.open();
      await visitor.ask("question");
      const second = await visitor.open("", { ready: false });
      await takeOver(second).waitFor();
      await first.close();
      await visitor.ready();
      await visitor.chats().first().waitFor();
      assert.equal(await visitor.chats().count(), 1);
    },
  },
  {
    name: "tabs: a take-over of a while ago does not come back",
    async run(visitor) {
      const first = await visitor.open();
      await visitor.ask("question");
      const second = await visitor.open("", { ready: false });
      await takeOver(second).click();
      await visitor.ready();
      await takeOver(first).click();
      visitor.page = first;
      await visitor.ready();
      await first.waitForTimeout(7000);
      assert.equal(await takeOver(first).count(), 0);
      await first.locator(".prose").getByText("You said: question").waitFor();
      await takeOver(second).waitFor();
    },
  },
  {
    name: "tabs: of three, the one that is asked gets it",
    async run(visitor) {
      const first = await visitor.open();
      const second = await visitor.open("", { ready: false });
      await takeOver(second).waitFor();
      const third = await visitor.open("", { ready: false });
      await takeOver(third).click();
      await visitor.ready();
      await takeOver(first).waitFor();
      await takeOver(second).waitFor();
      await takeOver(second).click();
      visitor.page = second;
      await visitor.ready();
      await takeOver(third).waitFor();
    },
  },
];
