import { describe, expect, it } from "vitest";
import { emptyOptions, type Attachment, type ChatMessage, type Conversation } from "../chat/message";
import { recommended } from "../settings/sampling";
import { exportJson, freshIds, readChats, type Archive } from "./transfer";

/** All chats of a text, which comes in small pieces. */
async function importJson(text: string): Promise<Archive> {
  const bytes = new TextEncoder().encode(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) => bytes.slice(7 * i, 7 * i + 7));
  const file = new Blob([bytes]);
  file.stream = () =>
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
  const all: Archive = { conversations: [], messages: [], media: [] };
  for await (const { conversations, messages, media } of readChats(file)) {
    all.conversations.push(...conversations);
    all.messages.push(...messages);
    all.media.push(...media);
  }
  return all;
}

const known = (...conversations: Conversation[]) => new Map(conversations.map((one) => [one.id, one]));

const conversation: Conversation = {
  id: "c1",
  title: "Pears",
  named: true,
  options: {
    ...emptyOptions(),
    system: "Be brief.",
    tools: ["get_time"],
    sampling: { ...recommended, temperature: 0.3, seed: 7 },
    imageBudget: 1120,
    adapters: [{ name: "facts", weight: 0.5 }],
  },
  leafId: "m2",
  createdAt: 1,
  updatedAt: 9,
};
const messages: ChatMessage[] = [
  {
    id: "m1",
    conversationId: "c1",
    parentId: null,
    role: "user",
    content: "What is a pear?",
    status: "done",
    createdAt: 2,
  },
  {
    id: "m2",
    conversationId: "c1",
    parentId: "m1",
    role: "assistant",
    content: "A fruit.",
    thinking: "Hm.",
    mended: ["a } was missing"],
    calls: [{ id: "x", name: "get_time", arguments: { a: [1] } }],
    status: "stopped",
    model: "nano",
    createdAt: 3,
  },
  {
    id: "m3",
    conversationId: "c1",
    parentId: "m2",
    role: "tool",
    content: "{}",
    callId: "x",
    toolName: "get_time",
    status: "done",
    createdAt: 4,
  },
];
const picture: Attachment = { id: "p1", kind: "image", name: "pear.png", type: "image/png", size: 4, at: 2.5 };
messages.push({
  id: "m4",
  conversationId: "c1",
  parentId: "m3",
  role: "user",
  content: "",
  attachments: [picture],
  status: "done",
  createdAt: 5,
});
const media = [{ id: "p1", conversationId: "c1", data: Uint8Array.of(0, 255, 10, 13) }];
const archive: Archive = { conversations: [conversation], messages, media };

describe("export and import", () => {
  it("gives back what went in", async () => {
    expect(await importJson(exportJson(archive))).toEqual(archive);
  });

  it.each<[string, string, RegExp]>([
    ["no JSON", "{", /not a JSON file/],
    ["another file", "[]", /not exported/],
    ["another format", '{"format":"x"}', /not exported by gemwire/],
    ["a newer version", '{"format":"gemwire-chats","version":2,"conversations":[]}', /newer/],
    ["no list", '{"format":"gemwire-chats","version":1}', /list/],
    ["no title", '{"format":"gemwire-chats","version":1,"conversations":[{"id":"a","messages":[]}]}', /title/],
    [
      "a strange role",
      '{"format":"gemwire-chats","version":1,"conversations":[' +
        '{"id":"a","title":"","messages":[{"id":"b","role":"root","content":""}]}]}',
      /role/,
    ],
  ])("refuses %s", async (_, text, sentence) => {
    await expect(importJson(text)).rejects.toThrow(sentence);
  });

  it("takes no surprises from a file", async () => {
    const { conversations } = await importJson(
      JSON.stringify({
        format: "gemwire-chats",
        version: 1,
        conversations: [
          {
            id: "a",
            title: "t",
            options: {
              system: 5,
              imageBudget: 5000,
              adapters: [{ name: "a" }, { name: "b", weight: 1, more: 2 }],
              tools: [1, "get_time"],
              sampling: { temperature: "hot", topK: -1, seed: 1.5 },
            },
            messages: [{ id: "b", role: "user", content: "", status: "streaming", parentId: 4 }],
          },
        ],
      }),
    );
    expect(conversations[0]?.options).toEqual({
      system: "",
      form: { kind: "free", schema: "", choices: "", regex: "" },
      ownTools: "",
      tools: ["get_time"],
      sampling: recommended,
      imageBudget: null,
      adapters: [{ name: "b", weight: 1 }],
    });
  });
});

describe("ids of an import", () => {
  it("drops what is there and unchanged", () => {
    expect(freshIds(archive, known(conversation))).toEqual({ conversations: [], messages: [], media: [] });
  });

  it("keeps the conversation's id where it is free, and the shape of its tree", () => {
    const {
      conversations: [added],
      messages: taken,
    } = freshIds(archive, known());
    expect(added?.id).toBe("c1");
    expect(taken.map(({ parentId }) => taken.findIndex(({ id }) => id === parentId))).toEqual([-1, 0, 1, 2]);
    expect(added?.leafId).toBe(taken[1]?.id);
  });

  it("keeps attachments with their bytes", () => {
    const { messages: taken, media: bytes } = freshIds(archive, known());
    expect(taken[3]?.attachments?.map(({ id }) => id)).toEqual(bytes.map(({ id }) => id));
    expect(bytes[0]?.id).not.toBe("p1");
    expect(bytes[0]?.data).toEqual(Uint8Array.of(0, 255, 10, 13));
  });

  it("makes a copy of what has changed", () => {
    const {
      conversations: [copy],
      messages: taken,
    } = freshIds(archive, known({ ...conversation, updatedAt: 5 }));
    expect(copy?.id).not.toBe("c1");
    expect(new Set(taken.map(({ conversationId }) => conversationId))).toEqual(new Set([copy?.id]));
    expect(taken.some(({ id }) => ["m1", "m2", "m3"].includes(id))).toBe(false);
  });
});
