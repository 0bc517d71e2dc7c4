import { describe, expect, it } from "vitest";
import { recommended } from "../settings/sampling";
import type { ChatMessage } from "./message";
import { chatOptionsOf, promptOf } from "./prompt";

const answer = (message: Partial<ChatMessage>): ChatMessage => ({
  id: "1",
  conversationId: "1",
  parentId: null,
  role: "assistant",
  content: "",
  status: "done",
  createdAt: 0,
  ...message,
});

describe("what the model is asked", () => {
  it("has the thoughts, of which the template takes those that it wants", () => {
    const call = { id: "c", name: "now", arguments: {} };
    const path = [
      answer({ thinking: "Hm.", calls: [call] }),
      answer({ role: "tool", content: "12:00", callId: "c", toolName: "now" }),
      answer({ thinking: "So.", content: "Noon." }),
      answer({ content: "Yes." }),
      answer({ thinking: "No words." }),
    ];
    expect(promptOf(path, { system: "", imageBudget: 280, media: new Map() })).toEqual([
      {
        role: "assistant",
        content: "",
        reasoning: "Hm.",
        tool_calls: [{ id: "c", type: "function", function: { name: "now", arguments: "{}" } }],
      },
      { role: "tool", content: "12:00", tool_call_id: "c", name: "now" },
      { role: "assistant", content: "Noon.", reasoning: "So." },
      { role: "assistant", content: "Yes." },
    ]);
  });

  it("comes with every setting of the sampling, but for a seed that there is none of", () => {
    const sampling = { ...recommended, preserveThinking: true, thinkingBudget: 99 };
    const { seed, ...rest } = sampling;
    expect(seed).toBe(null);
    expect(chatOptionsOf(sampling, [])).toEqual(rest);
    expect(chatOptionsOf({ ...sampling, seed: 3 }, []).seed).toBe(3);
  });
});
