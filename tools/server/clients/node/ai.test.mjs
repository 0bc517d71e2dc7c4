// The AI SDK, by its provider for servers like OpenAI's.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, Output, streamText, tool } from "ai";
import { z } from "zod";
import { model as name, paris, question, url } from "./here.mjs";

const provider = createOpenAICompatible({
  name: "gemwire",
  baseURL: `${url}/v1`,
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const model = provider(name);
const common = { model, prompt: question, temperature: 0, maxRetries: 0 };

test("smoke: ai", async () => {
  assert.equal((await generateText(common)).text, paris);
});

suite("ai", () => {
  test("streams", async () => {
    const answer = streamText(common);
    let text = "";
    for await (const piece of answer.textStream) text += piece;
    assert.equal(text, paris);
    assert.ok(((await answer.usage).totalTokens ?? 0) > 10);
  });

  test("calls tools", async () => {
    const add = tool({
      inputSchema: z.object({ a: z.union([z.literal(1), z.literal(2)]) }),
      execute: async ({ a }) => a + 1,
    });
    const answer = await generateText({ ...common, tools: { add }, toolChoice: "required" });
    assert.equal(answer.toolCalls[0]?.toolName, "add");
    assert.ok(typeof answer.toolResults[0]?.output === "number");
  });

  test("gives objects", async () => {
    const output = Output.object({ schema: z.object({ city: z.enum(["Paris", "Rome"]) }) });
    const answer = await generateText({ ...common, output });
    assert.match(answer.output.city, /^(Paris|Rome)$/);
  });

  test("hands thoughts on", async () => {
    const answer = await generateText({ ...common, providerOptions: { gemwire: { reasoningEffort: "high" } } });
    assert.ok(answer.reasoningText);
    assert.ok(answer.text);
  });
});
