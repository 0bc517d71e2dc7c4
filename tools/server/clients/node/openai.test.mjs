// OpenAI's own client.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { model, paris, picture, question, url } from "./here.mjs";

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
/** @type {OpenAI.ChatCompletionMessageParam[]} */
const messages = [{ role: "user", content: question }];
/** @type {OpenAI.ChatCompletionTool} */
const tool = {
  type: "function",
  function: {
    name: "add",
    parameters: { type: "object", properties: { a: { enum: [1, 2] } }, required: ["a"], additionalProperties: false },
  },
};

test("smoke: openai", async () => {
  const answer = await client.chat.completions.create({ model, messages, temperature: 0 });
  assert.equal(answer.choices[0]?.message.content, paris);
});

suite("openai", () => {
  test("streams", async () => {
    const stream = client.chat.completions.stream({
      model,
      messages,
      temperature: 0,
      stream_options: { include_usage: true },
    });
    let text = "";
    stream.on("content", (piece) => (text += piece));
    assert.equal(await stream.finalContent(), paris);
    assert.equal(text, paris);
    assert.ok(((await stream.totalUsage()).completion_tokens ?? 0) > 3);
  });

  test("runs tools", async () => {
    const answer = await client.chat.completions.create({
      model,
      messages,
      tools: [tool],
      tool_choice: "required",
      parallel_tool_calls: false,
    });
    const call = answer.choices[0]?.message.tool_calls?.[0];
    assert.ok(call?.type === "function");
    assert.match(call.function.arguments, /^\{"a":[12]\}$/);
    const said = answer.choices[0]?.message;
    assert.ok(said);
    await client.chat.completions.create({
      model,
      messages: [...messages, said, { role: "tool", tool_call_id: call.id, content: "2" }],
      tools: [tool],
      max_tokens: 20,
    });
  });

  test("parses answers in a schema", async () => {
    const answer = await client.chat.completions.parse({
      model,
      messages,
      temperature: 0,
      response_format: zodResponseFormat(z.object({ city: z.enum(["Paris", "Rome"]) }), "city"),
    });
    assert.match(answer.choices[0]?.message.parsed?.city ?? "", /^(Paris|Rome)$/);
  });

  test("sees", async () => {
    const image = `data:image/png;base64,${picture.toString("base64")}`;
    const answer = await client.chat.completions.create({
      model,
      temperature: 0,
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: image } },
            { type: "text", text: "What is in this picture?" },
          ],
        },
      ],
    });
    assert.match(answer.choices[0]?.message.content ?? "", /circle/);
  });

  test("makes responses", async () => {
    const stream = client.responses.stream({ model, input: question, temperature: 0 });
    let text = "";
    for await (const event of stream) if (event.type === "response.output_text.delta") text += event.delta;
    assert.equal(text, paris);
    assert.equal((await stream.finalResponse()).output_text, paris);
  });

  test("can be left", async () => {
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    for await (const _ of stream) break;
    assert.ok(stream.controller.signal.aborted);
  });

  test("tells errors apart", async () => {
    await assert.rejects(client.chat.completions.create({ model: "gpt-5", messages }), OpenAI.NotFoundError);
    await assert.rejects(client.chat.completions.create({ model, messages, top_p: 2 }), OpenAI.BadRequestError);
  });

  test("lists models", async () => {
    const names = [];
    for await (const m of client.models.list()) names.push(m.id);
    assert.ok(names.includes(model));
  });
});
