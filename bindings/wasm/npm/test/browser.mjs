// What the browser tests share: the browser, a page that has imported the package,
// and servers for it and for models.
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { browserName, launch, launchWith } from "../../browsertest/chromium.mjs";
import { serve } from "../../browsertest/server.mjs";
import { serveFaults } from "./faults.mjs";

const npm = resolve(import.meta.dirname, "..");
export const root = resolve(npm, "../../..");
/** The small trained model, which stands in for the built-in one: it answers faster, and its answers stay the same. */
export const nano = join(root, "testdata/conformance/nano/nano.gguf");
/** The built-in model in other forms; run.mjs makes them. */
export const forms = join(npm, "test/forms");

/** start takes the site's headers and further folders, and switches for the browser. */
export async function start({ args, folders = {}, ...options } = {}) {
  const site = await serve(
    { "/": join(npm, "test/page"), "/dist": join(npm, "dist"), "/dist/nano.gguf": nano, "/forms": forms, ...folders },
    options,
  );
  const models = await serveFaults(nano, forms);
  // WebKit stores files only where it has a profile, which it makes itself in a folder without a name.
  const browser = browserName === "webkit" ? null : await launch({ args });
  const context = await (browser ? browser.newContext() : launchWith(""));
  return {
    site,
    models,
    browser,
    context,
    page: () => openPage(context, site),
    async stop() {
      await (browser ?? context).close();
      await site.close();
      await models.close();
    },
  };
}

export async function openPage(context, site) {
  const page = await context.newPage();
  page.on("pageerror", (error) => console.error("page:", error));
  if (process.env.GEMWIRE_VERBOSE) page.on("console", (message) => console.error("console:", message.text()));
  await page.goto(`${site.url}/index.html`);
  await page.waitForFunction(() => globalThis.gemwire);
  return page;
}

/** attempt runs a function in the page; an error of the package comes back as {error}. */
export function attempt(page, work, argument) {
  return page.evaluate(`(async () => {
    try {
      return { value: await (${work})(${JSON.stringify(argument)}) };
    } catch (error) {
      if (!(error instanceof gemwire.GemwireError)) throw error;
      const { code, message, advice, suggestion } = error;
      return { error: { code, message, advice, suggestion } };
    }
  })()`);
}

/** conversations are the reference's cases that are chats without tools: [{messages, answer}]. */
export async function conversations() {
  const cases = JSON.parse(await readFile(join(root, "testdata/conformance/nano/cases.json"), "utf8"));
  return cases.text
    .map(({ prompt, answer, greedy }) => ({
      messages: messagesOf(prompt),
      answer: answer.replace(/<turn\|>$/, ""),
      tokens: greedy.length,
    }))
    .filter(({ messages, answer }) => messages && !answer.includes("<|"));
}

// messagesOf reads a rendered prompt back, null where it is more than turns of text.
function messagesOf(prompt) {
  const turns = prompt
    .replace(/^<bos>/, "")
    .split("<|turn>")
    .slice(1);
  if (turns.pop() !== "model\n") return null;
  const messages = turns.map((turn) => {
    const m = /^(user|model|system)\n([\s\S]*)<turn\|>\n$/.exec(turn);
    return m && { role: m[1] === "model" ? "assistant" : m[1], content: m[2] };
  });
  return messages.every((m) => m && !m.content.includes("<|")) ? messages : null;
}
