// The calls in OpenAI's shape, over answers that are made up here: no browser is needed.
import assert from "node:assert/strict";
import { before, test } from "node:test";

let gemwire;
before(async () => {
  gemwire = await import("../dist/index.js");
});

const messages = [{ role: "user", content: "Hi" }];
const usage = { promptTokens: 1, answerTokens: 2 };

// A model that says the words of the last message, each when next() lets it, and notes who asks.
function scripted() {
  const model = { info: { name: "Scripted" }, begun: [], ended: [], options: [], waiting: [] };
  model.next = () => model.waiting.shift()?.();
  model.chat = async function* (given, options) {
    const said = given.at(-1).content;
    model.begun.push(said);
    model.options.push(options);
    try {
      for (const text of said.split(" ")) {
        await new Promise((resolve, reject) => {
          if (options.signal?.aborted) reject(new gemwire.GemwireError("cancelled", "cancelled"));
          model.waiting.push(resolve);
          options.signal?.addEventListener("abort", () => reject(new gemwire.GemwireError("cancelled", "cancelled")));
        });
        yield { type: "text", text };
      }
      yield { type: "done", reason: "stop", usage };
    } finally {
      model.ended.push(said);
    }
  };
  return model;
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
const say = (content) => ({ messages: [{ role: "user", content }] });

test("what cannot be done is refused, and never ignored", async (t) => {
  const model = scripted();
  const completions = new gemwire.Completions(model);
  const wrong = {
    "no messages": [{}, "bad-argument", /needs messages/],
    "a form of answer that there is not": [{ response_format: { type: "xml" } }, "bad-argument", /xml/, /json_schema/],
    "a schema that is missing": [{ response_format: { type: "json_schema" } }, "bad-argument", /no schema/],
    "a schema without a JSON schema": [
      { response_format: { type: "json_schema", schema: { "~standard": { vendor: "some" } } } },
      "bad-argument",
      /schema of some/,
      /toJSONSchema/,
    ],
    "no choices": [{ response_format: { type: "choice", choices: [] } }, "bad-argument", /choices/],
    "several answers": [{ n: 2 }, "unsupported", /^n: 2/, /Ask again/],
    "a choice among allowed tools": [{ tool_choice: { type: "allowed_tools" } }, "unsupported", /tool_choice/],
    "a call of no tool": [
      {
        tools: [{ type: "function", function: { name: "weather" } }],
        tool_choice: { type: "function", function: { name: "wether" } },
      },
      "bad-argument",
      /wether/,
      /Did you mean weather\?/,
    ],
    "another kind of tool": [{ tools: [{ type: "custom" }] }, "unsupported", /tools\[0\]/],
    "sound as an answer": [{ modalities: ["text", "audio"] }, "unsupported", /modalities/],
    "functions of old": [{ functions: [] }, "unsupported", /functions/, /Use tools/],
    "top_logprobs alone": [{ top_logprobs: 3 }, "bad-argument", /top_logprobs/, /logprobs to true/],
    "a misspelt option": [{ temprature: 0 }, "bad-argument", /temprature/, /Did you mean temperature\?/],
    "a name of ours": [{ maxTokens: 5 }, "bad-argument", /maxTokens/, /Did you mean max_tokens\?/],
    "a name of nobody's": [{ zzz: 5 }, "bad-argument", /has no zzz/],
    "a misspelt part of an option": [
      { stream_options: { include_usgae: true } },
      "bad-argument",
      /stream_options/,
      /Did you mean include_usage\?/,
    ],
    "an effort that there is not": [{ reasoning_effort: "hihg" }, "bad-argument", /reasoning_effort/, /high/],
    "an unknown role": [{ messages: [{ role: "asistant", content: "" }] }, "bad-argument", /role/, /assistant/],
    "the role of a function": [{ messages: [{ role: "function", content: "" }] }, "bad-argument", /role/],
    "a message that is none": [{ messages: [null] }, "bad-argument", /messages\[0\]/],
  };
  for (const [name, [request, code, says, advises]] of Object.entries(wrong))
    for (const stream of [false, true])
      await t.test(`${name}${stream ? ", streamed" : ""}`, async () => {
        const given = name === "no messages" ? request : { messages, ...request };
        await assert.rejects(completions.create({ ...given, stream }), (error) => {
          assert.ok(error instanceof gemwire.GemwireError);
          assert.equal(error.code, code);
          assert.match(error.message, says);
          if (advises) assert.match(error.advice, advises);
          return true;
        });
      });
  await assert.rejects(completions.create({ messages }, { singal: null }), { advice: "Did you mean signal?" });
  assert.deepEqual(model.begun, [], "the model was asked nothing");
});

test("what asks for nothing is taken", async () => {
  const model = scripted();
  const asked = new gemwire.Completions(model).create(
    {
      ...say("hello"),
      n: 1,
      response_format: { type: "text" },
      tool_choice: "none",
      tools: [{ type: "function", function: { name: "f" } }],
      parallel_tool_calls: true,
      modalities: ["text"],
      audio: null,
      user: "somebody",
      logprobs: null,
      temperature: 0,
    },
    { signal: null },
  );
  await settled();
  model.next();
  assert.equal((await asked).choices[0].message.content, "hello");
  assert.deepEqual(model.options, [{ temperature: 0 }], "tool_choice none leaves the tools out");
});

test("what an answer must look like reaches the model", async (t) => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const schema = { type: "object", properties: { a: { type: "integer" } } };
  const format = { type: "json_schema", json_schema: { name: "x", schema, strict: true } };
  for (const [name, request, want] of [
    ["a schema", { response_format: format }, { responseFormat: format }],
    [
      "a call",
      { tools, tool_choice: "required", parallel_tool_calls: false },
      { tools, toolChoice: "required", parallelToolCalls: false },
    ],
    [
      "a call of one tool",
      { tools, tool_choice: { type: "function", function: { name: "f" } } },
      { tools, toolChoice: { name: "f" } },
    ],
  ])
    await t.test(name, async () => {
      const model = scripted();
      const asked = new gemwire.Completions(model).create({ ...say("hello"), ...request });
      await settled();
      model.next();
      await asked;
      assert.deepEqual(model.options, [want]);
    });
});

test("a stream has what OpenAI's has", async (t) => {
  const make = async (said, extras) => {
    const model = scripted();
    const stream = await new gemwire.Completions(model).create({ ...say(said), stream: true }, extras);
    return { model, stream };
  };
  const go = async (model, steps) => {
    for (let i = 0; i < steps; i++) {
      await settled();
      model.next();
    }
  };
  const textOf = async (stream) => {
    let text = "";
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    return text;
  };
  await t.test("tee", async () => {
    const { model, stream } = await make("a b c");
    const [left, right] = stream.tee();
    void go(model, 3);
    assert.equal(await textOf(left), "abc");
    assert.equal(await textOf(right), "abc");
    await assert.rejects(textOf(stream), { code: "bad-argument", advice: /tee/ });
  });
  await t.test("toReadableStream", async () => {
    const { model, stream } = await make("a b");
    void go(model, 2);
    const lines = (await new Response(stream.toReadableStream()).text()).trim().split("\n");
    assert.equal(lines.map((line) => JSON.parse(line).choices[0].delta.content ?? "").join(""), "ab");
  });
  await t.test("a readable stream that is left ends the answer", async () => {
    const { model, stream } = await make("a b");
    const reader = stream.toReadableStream().getReader();
    await reader.read();
    await reader.cancel();
    await settled();
    assert.deepEqual(model.ended, ["a b"]);
  });
  await t.test("controller", async () => {
    const { model, stream } = await make("a b c");
    void go(model, 1);
    let text = "";
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? "";
      if (text) stream.controller.abort();
    }
    assert.equal(text, "a", "it ends without an error");
    assert.deepEqual(model.ended, ["a b c"]);
  });
  await t.test("a loop that is left", async () => {
    const { model, stream } = await make("a b c");
    for await (const chunk of stream) {
      assert.equal(chunk.choices[0].delta.role, "assistant");
      break;
    }
    await settled();
    assert.deepEqual(model.ended, ["a b c"]);
    assert.ok(stream.controller.signal.aborted);
  });
  await t.test("a signal", async () => {
    const control = new AbortController();
    const { stream } = await make("a b c", { signal: control.signal });
    const read = textOf(stream);
    control.abort();
    await assert.rejects(read, { code: "cancelled" });
  });
});
