// Ollama's own client.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Ollama } from "ollama";
import { model, paris, picture, question, url } from "./here.mjs";

const client = new Ollama({ host: url });
const messages = [{ role: "user", content: question }];
const options = { temperature: 0 };

test("smoke: ollama", async () => {
  const answer = await client.chat({ model, messages, options });
  assert.equal(answer.message.content, paris);
});

suite("ollama", () => {
  test("streams", async () => {
    let text = "";
    for await (const piece of await client.chat({ model, messages, options, stream: true }))
      text += piece.message.content;
    assert.equal(text, paris);
  });

  test("keeps a format with and without thoughts", async () => {
    const format = {
      type: "object",
      properties: { city: { enum: ["Paris", "Rome"] } },
      required: ["city"],
      additionalProperties: false,
    };
    for (const think of [true, false]) {
      const answer = await client.chat({ model, messages, options, format, think });
      assert.match(JSON.parse(answer.message.content).city, /^(Paris|Rome)$/);
      assert.equal(Boolean(answer.message.thinking), think);
    }
  });

  test("sees", async () => {
    const images = [picture.toString("base64")];
    const answer = await client.chat({
      model,
      options,
      messages: [{ role: "user", content: "What is in this picture?", images }],
    });
    assert.match(answer.message.content, /circle/);
  });

  test("writes on, and can be stopped", async () => {
    assert.equal((await client.generate({ model, prompt: question, options })).response, paris);
    const stream = await client.generate({ model, prompt: "Tell me a story", stream: true });
    await assert.rejects(async () => {
      for await (const _ of stream) stream.abort();
    });
  });

  test("keeps models", async () => {
    assert.ok((await client.list()).models.some((m) => m.name === `${model}:latest`));
    assert.equal((await client.show({ model })).details.family, "gemma4");
    await client.create({ model: "node-rhymes", from: model, system: "Rhyme." });
    await client.copy({ source: "node-rhymes", destination: "node-copied" });
    for (const name of ["node-rhymes", "node-copied"]) await client.delete({ model: name });
    await assert.rejects(client.show({ model: "node-rhymes" }), /not found/);
    assert.equal((await client.version()).version.split(".").length, 3);
  });
});
