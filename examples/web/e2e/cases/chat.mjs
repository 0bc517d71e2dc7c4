import assert from "node:assert/strict";

export default [
  {
    name: "chat: an answer streams and ends with its speed",
    async run(visitor) {
      const page = await visitor.open();
      assert.equal(await visitor.ask("hello there"), "You said: hello there");
      assert.match(await page.locator("main").innerText(), /48\.7 tokens\/s/);
      assert.match(await page.locator("main").innerText(), /\d+ of 8,192 tokens/);
      assert.match(await page.getByTestId("announcement").innerText(), /You said: hello there/);
      assert.match(page.url(), /#\/chat\/[0-9a-f-]{36}$/);
    },
  },
  {
    name: "chat: Esc and the button stop an answer, which is kept",
    async run(visitor) {
      const page = await visitor.open();
      for (const stop of [
        () => page.keyboard.press("Escape"),
        () => page.getByRole("button", { name: "Stop the answer" }).click(),
      ]) {
        await visitor.type("/long");
        await page.locator('li[data-status="streaming"] .prose').filter({ hasText: "word word" }).waitFor();
        await stop();
        await visitor.answered();
        assert.match(await visitor.answers().last().innerText(), /word word[\s\S]*Stopped\./);
      }
    },
  },
  {
    name: "chat: Shift+Enter makes a new line, and Enter sends",
    async run(visitor) {
      const page = await visitor.open();
      const field = page.getByLabel("Message", { exact: true });
      await field.pressSequentially("one");
      await field.press("Shift+Enter");
      await field.pressSequentially("two");
      assert.equal(await field.inputValue(), "one\ntwo");
      await field.press("Enter");
      await visitor.answered();
      assert.equal(await page.locator('li[data-role="user"] p').first().innerText(), "one\ntwo");
    },
  },
  {
    name: "chat: answers again, as a branch that can be left and found",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("first");
      await page.getByRole("button", { name: "Answer again" }).click();
      await page.getByRole("group", { name: "Versions of this answer" }).getByText("2/2").waitFor();
      await visitor.answered();
      await page.getByRole("button", { name: "Previous answer" }).click();
      await page.getByText("1/2").waitFor();
      assert.equal(await visitor.answers().count(), 1);
    },
  },
  {
    name: "chat: an edited question begins a branch, and both stay",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("first wording");
      await visitor.ask("second question");
      await page.getByRole("button", { name: "Edit the question" }).first().click();
      await page.getByLabel("The question, edited").fill("other wording");
      await page.getByRole("button", { name: "Ask as a new branch" }).click();
      await page.locator(".prose").getByText("You said: other wording").waitFor();
      await visitor.answered();
      assert.equal(await visitor.answers().count(), 1);
      await page.getByRole("button", { name: "Previous question" }).click();
      await page.locator(".prose").getByText("You said: second question").waitFor();
      assert.equal(await visitor.answers().count(), 2);
      await page.reload();
      await visitor.ready();
      await page.locator(".prose").getByText("You said: second question").waitFor();
      await page.getByRole("button", { name: "Next question" }).click();
      await page.locator(".prose").getByText("You said: other wording").waitFor();
    },
  },
  {
    name: "chat: arrow up edits the last question",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("one");
      await visitor.ask("two");
      await page.getByLabel("Message", { exact: true }).press("ArrowUp");
      assert.equal(await page.getByLabel("The question, edited").inputValue(), "two");
      await page.keyboard.press("Escape");
      assert.equal(await page.getByLabel("The question, edited").count(), 0);
    },
  },
  {
    name: "chat: thoughts are folded",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("/think");
      const thoughts = page.locator("details");
      assert.equal(await thoughts.getAttribute("open"), null);
      await thoughts.locator("summary").click();
      await thoughts.getByText("The question is simple.").waitFor();
      assert.doesNotMatch(await visitor.lastAnswer(), /The question is simple/);
    },
  },
  {
    name: "chat: Markdown, and code that can be copied",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("/md");
      await page.getByRole("heading", { name: "A heat pump, in short" }).waitFor();
      await page.getByRole("cell", { name: "4.1 kWh" }).waitFor();
      await page.getByRole("button", { name: "Copy code" }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      assert.match(
        await page.evaluate(() => navigator.clipboard.readText()),
        /^\/\/ efficiency[\s\S]*return heat \/ work\n}$/,
      );
    },
  },
  {
    name: "chat: formulas and colored code are fetched when they first appear",
    async run(visitor) {
      const page = await visitor.open();
      const asked = [];
      page.on("request", (request) => asked.push(new URL(request.url()).pathname));
      await visitor.ask("It costs $5 and $6.");
      assert.deepEqual(
        asked.filter((path) => /Typeset|HighlightedCode|KaTeX/.test(path)),
        [],
      );
      await visitor.ask("/md");
      await page.locator(".hljs-keyword").filter({ hasText: "func" }).waitFor();
      await visitor.ask("/formulas");
      await page.locator(".formula-display .katex-display").waitFor();
      assert.equal(await page.locator(".formula .katex").count(), 3);
      assert.match(await visitor.lastAnswer(), /A pump costs \$500 to \$900\./);
      assert.match(await visitor.lastAnswer(), /cannot be read: \$\\frac\{1\$, and \$x\$ is code/);
      assert.ok(asked.some((path) => path.includes("Typeset")));
      assert.ok(asked.some((path) => path.includes("HighlightedCode")));
    },
  },
  {
    name: "chat: words of a table stay whole on a phone, and numbers stand under their headings",
    viewport: { width: 320, height: 640 },
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("/formulas");
      const cell = (text) => page.getByRole("cell", { name: text, exact: true });
      const box = (locator) =>
        locator.evaluate((element) => {
          const range = document.createRange();
          range.selectNodeContents(element);
          return { right: range.getBoundingClientRect().right, lines: range.getClientRects().length };
        });
      for (const word of ["Mercury", "317.8"]) assert.equal((await box(cell(word))).lines, 1, word);
      const [head, number] = [await box(page.getByRole("columnheader", { name: "Moons" })), await box(cell("95"))];
      assert.ok(Math.abs(head.right - number.right) < 1, `${head.right} and ${number.right}`);
      const answer = page.locator(".prose").last();
      assert.equal(await answer.evaluate((element) => getComputedStyle(element).fontVariantNumeric), "lining-nums");
      const hebrew = page.locator(".prose").getByText("שלום עולם");
      assert.equal(await hebrew.evaluate((element) => getComputedStyle(element).direction), "rtl");
    },
  },
  {
    name: "chat: the page's own tools answer by themselves",
    async run(visitor) {
      const page = await visitor.open();
      await page.getByRole("button", { name: "Options of this chat" }).click();
      await page.getByLabel("Calculator").check();
      await page.getByRole("button", { name: "Close" }).click();
      await visitor.type("/sum");
      await page.locator(".prose").getByText('The tool says {"value":42}.').waitFor();
      await visitor.answered();
      assert.match(await page.locator("main").innerText(), /Calls\s+calculate\(expression: "6 \* 7"\)/);
    },
  },
  {
    name: "chat: a tool of the reader's own asks for its result",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("/weather");
      await page.getByLabel("Result of get_weather").fill("12 °C, rain");
      await page.getByRole("button", { name: "Send the result" }).click();
      const said = page.locator(".prose").getByText("The tool says 12 °C, rain.");
      await said.waitFor();
      await page.reload();
      await visitor.ready();
      await said.waitFor();
      await page.getByText("Mended in a tool call: a } was missing.").waitFor();
      assert.equal(await page.getByRole("textbox", { name: "Result of get_weather" }).count(), 0);
    },
  },
  {
    name: "chat: the system prompt of this chat goes before that of the settings",
    async run(visitor) {
      const page = await visitor.open("#/settings");
      await page.getByLabel("System prompt").fill("Be brief.");
      await visitor.go("/");
      assert.equal(await visitor.ask("/system"), "My orders: Be brief.");
      await page.getByRole("button", { name: "Options of this chat" }).click();
      await page.getByLabel("System prompt").fill("Be long.");
      await page.getByRole("button", { name: "Close" }).click();
      assert.equal(await visitor.ask("/system"), "My orders: Be long.");
    },
  },
  {
    name: "chat: a context that the model finds full is said once, with what can be done",
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ask("before");
      await visitor.type("/full");
      const said = page.getByText(
        "The conversation no longer fits the model's context. Start a new chat, shorten the message,",
      );
      await said.first().waitFor();
      await visitor.answered();
      assert.equal(await said.count(), 1);
      assert.equal(await page.getByText("The answer failed.").count(), 1);
    },
  },
  {
    name: "chat: the meter counts what will be sent from the start, and says when the next answer does not fit",
    async run(visitor) {
      const page = await visitor.open("#/settings");
      const meter = page.getByText(/^[\d,]+ of 8,192 tokens$/);
      const used = async () => Number((await meter.innerText()).split(" ")[0].replaceAll(",", ""));
      await page.getByLabel("System prompt").fill("Answer in rhymes ".repeat(30));
      await page.getByLabel("Go on when the context is full").uncheck();
      await visitor.go("/");
      await meter.waitFor();
      const empty = await used();
      assert.ok(empty > 90, `${empty} with a system prompt of 90 words`);
      const field = page.getByLabel("Message", { exact: true });
      await field.fill("word ".repeat(500));
      await page.getByText(`${empty + 500} of 8,192 tokens`).waitFor();
      await field.fill("");
      await page.getByText(`${empty} of 8,192 tokens`).waitFor();
      await visitor.ask("hello there");
      await page.waitForFunction(
        (before) => Number(document.body.innerText.match(/(\d+) of 8,192/)?.[1]) > before,
        empty,
      );

      const long = "word ".repeat(8200);
      await field.fill(long);
      await page.getByText(/^The context is full: .* of 8,192 tokens\.$/).waitFor();
      assert.equal(await page.getByRole("button", { name: "Send" }).isDisabled(), true);
      await field.press("Enter");
      assert.equal(await field.inputValue(), long);
      await page.getByRole("link", { name: "Load the model with a larger context" }).waitFor();
      await field.fill("and more");
      await page.getByText(/^The context is full/).waitFor({ state: "detached" });
      await field.press("Enter");
      await page.locator(".prose").getByText("You said: and more").waitFor();
    },
  },
  {
    name: "chat: a message sent while the model loads goes off when it is ready",
    async run(visitor) {
      const page = await visitor.open("", { ready: false });
      await visitor.type("early");
      await page.locator(".prose").getByText("You said: early").waitFor();
    },
  },
];
