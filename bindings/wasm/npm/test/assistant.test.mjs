// An assistant guesses what a model will say: answers stay what they are.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromiumAlone } from "../../browsertest/chromium.mjs";
import { attempt, root, start } from "./browser.mjs";

let env, page;
before(async () => {
  env = await start({ folders: { "/conformance": join(root, "testdata/conformance") } });
  page = await env.page();
  await page.evaluate(() => {
    globalThis.model = "/conformance/e2b.gguf";
    globalThis.assistant = "/conformance/assistant/assistant.gguf";
    globalThis.say = async (of, options) => {
      let text = "",
        done;
      await of.reset();
      for await (const event of of.chat([{ role: "user", content: "Hi" }], {
        temperature: 0,
        maxTokens: 24,
        ...options,
      })) {
        if (event.type === "text") text += event.text;
        if (event.type === "done") done = event;
      }
      return { text, usage: done.usage };
    };
  });
});
after(() => env?.stop());

for (const device of chromiumAlone ? ["cpu"] : ["cpu", "gpu"]) {
  // On a software rasterizer a pass over guesses costs more than they save, so that
  // none are made; that they are right there is for gemma4's own tests in a tab.
  test(`on the ${device} it ${device === "cpu" ? "guesses" : "is planned for"}, and nothing changes`, async () => {
    const { info, guessed, plain } = await page.evaluate(async (device) => {
      const open = await gemwire.Model.load(model, { device, context: 256, assistant });
      try {
        return {
          info: open.info,
          guessed: await say(open, { assistantDrafts: 4 }),
          plain: await say(open, { drafts: -1 }),
        };
      } finally {
        await open.close();
      }
    }, device);
    assert.ok(info.assistant, "no name");
    assert.equal(info.device, device);
    assert.equal(guessed.text, plain.text);
    const { drafted = 0, draftsRight = 0, assisted = 0, assistedRight = 0 } = guessed.usage;
    assert.ok(
      (assisted > 0 || device === "gpu") && assisted <= drafted && draftsRight <= drafted && assistedRight <= assisted,
      JSON.stringify(guessed.usage),
    );
    assert.equal(plain.usage.drafted, undefined);
    if (device === "gpu") assert.ok(info.plan.assistant > 1e5, `${info.plan.assistant} bytes are planned for it`);
  });
}

test("a file that is picked is one, too", async () => {
  const name = await page.evaluate(async () => {
    const blob = await (await fetch(assistant)).blob();
    const open = await gemwire.Model.load(model, { device: "cpu", context: 128, assistant: blob });
    await open.close();
    return open.info.assistant;
  });
  assert.ok(name);
});

test("one of another model, or none, is refused", async () => {
  for (const [of, other, code] of [
    ["nano", "/conformance/assistant/assistant.gguf", "unsupported"],
    ["/conformance/e2b.gguf", "/conformance/e2b.gguf", "unsupported"],
    ["/conformance/e2b.gguf", "/conformance/chat.json", "bad-file"],
    ["/conformance/e2b.gguf", "/conformance/nothing.gguf", "not-found"],
  ]) {
    const { error } = await attempt(
      page,
      ([of, assistant]) => gemwire.Model.load(of === "nano" ? gemwire.nano : of, { device: "cpu", assistant }),
      [of, other],
    );
    assert.equal(error?.code, code, `${other}: ${error?.message}`);
  }
});
