// Who answers when: a session over a connection that answers as it is told. No browser is needed.
import assert from "node:assert/strict";
import { before, test } from "node:test";

let gemwire;
before(async () => {
  gemwire = await import("../dist/index.js");
});

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
const ask = (content) => [{ role: "user", content }];

// An engine that notes what it is asked, and says and ends it when it is told.
function scripted() {
  const engine = { begun: [] };
  const connection = {
    call(op, { messages }, { signal, onEvent }) {
      assert.equal(op, "chat");
      const said = messages.at(-1).content;
      engine.begun.push(said);
      return new Promise((resolve, reject) => {
        engine.end = () => {
          onEvent({ type: "text", text: said });
          resolve({});
        };
        engine.fail = reject;
        signal.addEventListener("abort", () => reject(new gemwire.GemwireError("cancelled", "cancelled")));
      });
    },
  };
  engine.session = new gemwire.Session(connection, { session: 1, context: 64 });
  engine.answer = async (content, options) => {
    let text = "";
    for await (const event of engine.session.chat(ask(content), options)) text += event.text;
    return text;
  };
  return engine;
}

test("answers wait for those before them", async () => {
  const engine = scripted();
  const control = new AbortController();
  const first = engine.answer("one");
  const second = engine.answer("two", { signal: control.signal });
  const third = engine.answer("three");
  await settled();
  assert.deepEqual(engine.begun, ["one"]);
  control.abort();
  await assert.rejects(second, { code: "cancelled" });
  await settled();
  assert.deepEqual(engine.begun, ["one"], "who gave up lets nobody past");
  engine.end();
  assert.equal(await first, "one");
  await settled();
  assert.deepEqual(engine.begun, ["one", "three"]);
  engine.end();
  assert.equal(await third, "three");
});

test("an answer that fails, and one whose question cannot be read, let the next one past", async () => {
  const engine = scripted();
  const first = engine.answer("one");
  const unread = engine.session.chat([{ role: "user", content: [{ type: "image", image: 7 }] }]).next();
  const third = engine.answer("three");
  await settled();
  engine.fail(new gemwire.GemwireError("internal", "no"));
  await assert.rejects(first, { code: "internal" });
  await assert.rejects(unread);
  await settled();
  assert.deepEqual(engine.begun, ["one", "three"]);
  engine.end();
  assert.equal(await third, "three");
});

test("an answer that nobody reads is in nobody's way", async () => {
  const engine = scripted();
  const unread = engine.session.chat(ask("one"));
  void unread.next();
  const second = engine.answer("two");
  await settled();
  engine.end();
  await settled();
  engine.end();
  assert.equal(await second, "two");
  const untouched = engine.session.chat(ask("never"));
  assert.ok(untouched);
  const third = engine.answer("three");
  await settled();
  engine.end();
  assert.equal(await third, "three");
});

test("settings that are wrong are refused without a wait", async () => {
  const engine = scripted();
  const first = engine.answer("one");
  await assert.rejects(engine.answer("two", { responseFormat: { type: "yaml" } }), { code: "bad-argument" });
  await settled();
  engine.end();
  assert.equal(await first, "one");
});

test("what waits is the conversation that was asked", async () => {
  const engine = scripted();
  const messages = ask("one");
  const read = async () => {
    let text = "";
    for await (const event of engine.session.chat(messages)) text += event.text;
    return text;
  };
  const first = read();
  messages.push({ role: "user", content: "two" });
  const second = read();
  messages.push({ role: "user", content: "three" });
  await settled();
  engine.end();
  assert.equal(await first, "one");
  await settled();
  engine.end();
  assert.equal(await second, "two");
});

test("what has no meaning is refused", async () => {
  const engine = scripted();
  const answer = async (messages, options) => {
    for await (const _ of engine.session.chat(messages, options));
  };
  for (const [messages, options, said] of [
    [ask("x"), { temprature: 0 }, /chat has no temprature/],
    [ask("x"), { max_tokens: 5 }, /chat has no max_tokens/],
    [ask("x"), null, /options of chat are null/],
    [ask("x"), { signal: 5 }, /signal is 5/],
    [ask("x"), { tools: "x" }, /tools is x; wanted a list/],
    [ask("x"), { stop: "x" }, /stop is x; wanted a list/],
    [undefined, {}, /messages are undefined/],
    ["x", {}, /messages are x/],
    [[null], {}, /messages\[0\] is null/],
    [[{ role: "user" }], {}, /messages\[0\]\.content is undefined/],
    [[{ role: "user", content: 5 }], {}, /messages\[0\]\.content is 5/],
    [ask([{ type: "text", txt: "x" }]), {}, /messages\[0\]\.content\[0\]\.text is undefined/],
  ])
    await assert.rejects(answer(messages, options), { code: "bad-argument", message: said });
  await assert.rejects(gemwire.Model.load("x.gguf", { contxt: 5 }), {
    code: "bad-argument",
    message: /load has no contxt/,
  });
  await assert.rejects(gemwire.Model.load("x.gguf", { memoryBudget: "lots" }), {
    code: "bad-argument",
    message: /lots/,
  });
  await assert.rejects(gemwire.Model.load("x.gguf", { device: "gup" }), {
    code: "bad-argument",
    message: /device is gup; there are auto, gpu, cpu/,
    advice: /gpu/,
  });
  for (const [responseFormat, said] of [
    [{ type: "json_object", compct: true }, /response format has no compct/],
    [
      {
        toJSONSchema: () => {
          throw new Error("dates cannot be said");
        },
      },
      /the schema: dates cannot be said/,
    ],
  ])
    await assert.rejects(answer(ask("x"), { responseFormat }), { code: "bad-argument", message: said });
  await assert.rejects(gemwire.store.download("https://x.invalid/y.gguf", { sha256: "00" }), {
    code: "bad-argument",
    message: /64 hexadecimal digits/,
  });
  assert.deepEqual(engine.begun, []);
});
