// Answers in a form: what a page asks for reaches the model, and every answer fits.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chromiumAlone } from "../../browsertest/chromium.mjs";
import { attempt, start } from "./browser.mjs";

let env, page;
before(async () => {
  env = await start();
  page = await env.page();
  await page.evaluate(() => {
    globalThis.messages = [{ role: "user", content: "What is the weather in Vienna?" }];
    globalThis.say = async (model, options) => {
      let text = "",
        calls = [],
        done;
      for await (const event of model.chat(messages, { temperature: 0, maxTokens: 80, ...options })) {
        if (event.type === "text") text += event.text;
        if (event.type === "tool_call") calls.push(event.call);
        if (event.type === "done") done = event;
      }
      return { text, calls, reason: done.reason, inCall: done.inCall, usage: done.usage };
    };
  });
});
after(() => env?.stop());

const schema = {
  type: "object",
  properties: { "name of the city": { type: "string", maxLength: 12 }, sunny: { type: "boolean" } },
  required: ["name of the city", "sunny"],
  additionalProperties: false,
};

for (const device of ["cpu", "gpu"]) {
  test(`answers keep their form on the ${device}`, { skip: device === "gpu" && chromiumAlone }, async (t) => {
    await page.evaluate(async (device) => {
      globalThis.model = await gemwire.Model.load(gemwire.nano, { device, context: 512 });
    }, device);
    const fits = ({ text, reason }) => {
      assert.equal(reason, "stop");
      const value = JSON.parse(text);
      assert.deepEqual(Object.keys(value), ["name of the city", "sunny"]);
      assert.equal(typeof value.sunny, "boolean");
    };
    await t.test("a JSON schema", async () => {
      const answer = await page.evaluate(
        (schema) => say(model, { responseFormat: { type: "json_schema", schema } }),
        schema,
      );
      fits(answer);
      assert.ok(answer.usage.forced >= 4, JSON.stringify(answer.usage));
    });
    await t.test("drawn at a high temperature", async () => {
      fits(
        await page.evaluate(
          (schema) => say(model, { temperature: 1.5, seed: 3, responseFormat: { type: "json_schema", schema } }),
          schema,
        ),
      );
    });
    await t.test("schemas of libraries", async () => {
      for (const answer of await page.evaluate(
        async (schema) => [
          await say(model, { responseFormat: { "~standard": { jsonSchema: { input: () => schema } } } }),
          await say(model, { responseFormat: { type: "json_schema", schema: { toJSONSchema: () => schema } } }),
          await say(model, { responseFormat: { type: "json_schema", schema: { toJsonSchema: () => schema } } }),
        ],
        schema,
      ))
        fits(answer);
    });
    await t.test("other forms", async () => {
      const texts = await page.evaluate(async () => {
        const forms = [
          { type: "regex", regex: "[A-Z][a-z]{3,8}!" },
          { type: "choice", choices: ["sun", "rain"] },
          { type: "grammar", grammar: 'root ::= "It is " [0-9] " degrees"' },
        ];
        const texts = [];
        for (const responseFormat of forms) texts.push((await say(model, { responseFormat })).text);
        return texts;
      });
      assert.match(texts[0], /^[A-Z][a-z]{3,8}!$/);
      assert.match(texts[1], /^(sun|rain)$/);
      assert.match(texts[2], /^It is [0-9] degrees$/);
    });
    await t.test("completions, streamed and whole", async () => {
      const texts = await page.evaluate(async (schema) => {
        const { completions } = new gemwire.OpenAIChat(model).chat;
        const request = {
          messages,
          temperature: 0,
          response_format: { type: "json_schema", json_schema: { name: "weather", strict: true, schema } },
        };
        const whole = (await completions.create(request)).choices[0].message.content;
        let streamed = "";
        for await (const { choices } of await completions.create({ ...request, stream: true }))
          streamed += choices[0]?.delta.content ?? "";
        return [whole, streamed];
      }, schema);
      assert.equal(texts[0], texts[1]);
      fits({ text: texts[0], reason: "stop" });
    });
    await t.test("calls of tools", async () => {
      const [must, none, named, cut] = await page.evaluate(async () => {
        const parameters = {
          type: "object",
          properties: { city: { type: "string", maxLength: 10 }, days: { type: "integer", minimum: 1, maximum: 5 } },
          required: ["city", "days"],
          additionalProperties: false,
        };
        const tools = [
          { type: "function", function: { name: "get_weather", parameters } },
          { type: "function", function: { name: "get_time" } },
        ];
        return [
          await say(model, { tools, toolChoice: "required", parallelToolCalls: false }),
          await say(model, { tools, toolChoice: "none" }),
          await say(model, { tools, toolChoice: { name: "get_time" }, parallelToolCalls: false }),
          await say(model, { tools, toolChoice: "required", maxTokens: 3 }),
        ];
      });
      assert.equal(must.calls.length, 1);
      if (must.calls[0].name === "get_weather") {
        const { city, days } = must.calls[0].arguments;
        assert.ok(typeof city === "string" && days >= 1 && days <= 5, JSON.stringify(must.calls));
      }
      assert.deepEqual(none.calls, []);
      assert.deepEqual([cut.calls, cut.reason, cut.inCall, must.inCall], [[], "length", true, undefined]);
      assert.deepEqual(
        named.calls.map(({ name, arguments: given }) => [name, given]),
        [["get_time", {}]],
      );
    });
    await t.test("what cannot be kept is refused", async () => {
      for (const [responseFormat, code, says] of [
        [{ type: "json_schema", schema: { type: "text" } }, "bad-argument", /type/],
        [{ type: "regex", regex: "(" }, "bad-argument", /\)/],
        [{ type: "yaml" }, "bad-argument", /yaml/],
      ]) {
        const { error } = await attempt(page, (options) => say(model, options), { responseFormat });
        assert.equal(error?.code, code);
        assert.match(error.message, says);
        const { error: early } = await attempt(page, (format) => model.checkFormat(format), responseFormat);
        assert.deepEqual([early?.code, early?.message], [code, error.message]);
      }
      await page.evaluate((schema) => model.checkFormat({ type: "json_schema", schema }), schema);
      await page.evaluate(() => model.checkFormat({ type: "text" }));
    });
    await page.evaluate(() => model.close());
  });
}
