import type { ChatEvent } from "gemwire";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Answer } from "./Answer";
import type { ChatMessage } from "./message";
import { streamAnswer } from "./streamAnswer";
import { treeOf } from "./tree";

const started: ChatMessage = {
  id: "1",
  conversationId: "1",
  parentId: null,
  role: "assistant",
  content: "",
  status: "streaming",
  createdAt: 0,
};
const usage = { promptTokens: 9, computedTokens: 9, answerTokens: 1, prefillMs: 1, decodeMs: 0, tokensPerSecond: 0 };
const nothing = "The model answered with nothing. Try other words.";

/** The answer as the page shows it, from the model's events. */
async function shown(...events: ChatEvent[]): Promise<string> {
  async function* model() {
    await Promise.resolve();
    yield* events;
  }
  const { message } = await streamAnswer({ events: model(), message: started, onUpdate: () => undefined });
  return renderToStaticMarkup(<Answer message={message} tree={treeOf([message])} prefill={null} busy={false} last />);
}

it.each<[string, ChatEvent[]]>([
  ["nothing", [{ type: "done", reason: "stop", usage }]],
  [
    "nothing but space",
    [
      { type: "text", text: "\n" },
      { type: "done", reason: "stop", usage },
    ],
  ],
  [
    "nothing but a thought",
    [
      { type: "thinking", text: "Hm." },
      { type: "done", reason: "stop", usage },
    ],
  ],
])("an answer of %s has a line that says so", async (_, events) => {
  expect(await shown(...events)).toContain(nothing);
});

it.each<[string, ChatEvent[]]>([
  [
    "a word",
    [
      { type: "text", text: "Yes" },
      { type: "done", reason: "stop", usage },
    ],
  ],
  [
    "a call",
    [
      { type: "tool_call", call: { id: "c", name: "now", arguments: {} } },
      { type: "done", reason: "tool_calls", usage },
    ],
  ],
  [
    "a call that cannot be read",
    [
      { type: "malformed_call", text: "now{", error: "torn" },
      { type: "done", reason: "stop", usage },
    ],
  ],
  ["nothing before the limit", [{ type: "done", reason: "length", usage }]],
  ["nothing before it was stopped", [{ type: "done", reason: "cancelled", usage }]],
])("an answer of %s has no such line", async (_, events) => {
  expect(await shown(...events)).not.toContain(nothing);
});
