// What a visitor of the app does and sees, in the words of the tests.
export class Visitor {
  errors = [];
  /** What a case found out that is worth telling, though nothing is asked of it. */
  notes = [];
  /** What the pages have written to their consoles. */
  console = [];
  #others = [];

  constructor(context, server) {
    this.context = context;
    this.server = server;
    context.on("page", (page) => {
      page.on("pageerror", (error) => this.errors.push(error.message));
      page.on("console", (message) => this.console.push(`${message.type()}: ${message.text()}`));
    });
  }

  /** Opens the app in a new tab, which is the one that the other methods mean. */
  async open(hash = "", { script = "", ready = hash === "" } = {}) {
    const page = await this.context.newPage();
    if (script) await page.addInitScript((value) => localStorage.setItem("fake", value), script);
    await page.goto(`${this.server.origin}/${hash}`);
    this.page = page;
    if (ready) await this.ready();
    return page;
  }

  /** Keeps what a case has started (a browser, a server) until it ends. */
  async with(started) {
    const thing = await started;
    this.#others.push(thing);
    return thing;
  }

  async leave() {
    for (const thing of this.#others.reverse()) await thing.close().catch(() => undefined);
  }

  /** Waits until a model is ready, or the one of that label. */
  ready(label = "") {
    return this.page
      .getByRole("button", { name: new RegExp(`${label} ?, ready\\. Change the model`) })
      .first()
      .waitFor({ state: "attached" });
  }

  async type(text) {
    await this.page.getByLabel("Message", { exact: true }).fill(text);
    await this.page.getByLabel("Message", { exact: true }).press("Enter");
  }

  /** Asks, and waits until the answer has ended. */
  async ask(text) {
    const questions = this.page.locator('li[data-role="user"]').filter({ hasText: text });
    const before = await questions.count();
    await this.type(text);
    await questions.nth(before).waitFor();
    await this.answered();
    return this.lastAnswer();
  }

  async answered() {
    // The button that stops is there from the first moment of an answer to its last.
    await this.page.getByRole("button", { name: "Send", exact: true }).waitFor();
    await this.page.locator('li[data-role="assistant"]:not([data-status="streaming"])').last().waitFor();
  }

  /** Waits until an answer is being written, at most so many milliseconds; one that nobody saw may have ended. */
  streaming(timeout = undefined) {
    return this.page
      .locator('li[data-status="streaming"] .prose')
      .filter({ hasText: /\w+ \w+/ })
      .waitFor({ timeout });
  }

  answers() {
    return this.page.locator('li[data-role="assistant"]');
  }

  async lastAnswer() {
    return (await this.answers().last().locator(".prose").allInnerTexts()).join("");
  }

  chats() {
    return this.page.getByRole("list", { name: "Chats" }).first().getByRole("listitem");
  }

  go(hash) {
    return this.page.evaluate((value) => {
      location.hash = value;
    }, hash);
  }

  async screenshot(path) {
    await this.page?.screenshot({ path, timeout: 10_000 });
  }
}
