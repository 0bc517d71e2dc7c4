import type { ChatEvent, ChatOptions, Message, ResponseFormat, Tool } from "gemwire";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ask, endpoint } from "./server";
import { serverAnswer, withoutOldest } from "./serverAnswer";

const server = { url: "http://127.0.0.1:8080", key: "k", model: "m" };
const bodies: Record<string, unknown>[] = [];
let answers: Response[] = [];

beforeEach(() => {
  bodies.length = 0;
  vi.stubGlobal("location", { protocol: "http:", origin: "http://localhost" });
  vi.stubGlobal("fetch", (_: URL, { body = "" }: { body?: string }) => {
    bodies.push(JSON.parse(body || "{}") as Record<string, unknown>);
    return Promise.resolve(answers.shift());
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** A response whose bytes arrive in pieces of this size. */
function events(lines: readonly unknown[], piece = 7): Response {
  const bytes = new TextEncoder().encode(lines.map((line) => `data: ${JSON.stringify(line)}\r\n\r\n`).join(""));
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, (at += piece)));
    },
  });
  return new Response(body);
}

const delta = (value: object, finish: string | null = null) => ({ choices: [{ delta: value, finish_reason: finish }] });

async function all(prompt: Message[], options: ChatOptions = {}): Promise<ChatEvent[]> {
  const list: ChatEvent[] = [];
  const { signal } = new AbortController();
  for await (const event of serverAnswer(server, prompt, { ...options, signal })) list.push(event);
  return list;
}

it("reads letters that are cut in two, thoughts, and calls that come in pieces", async () => {
  answers = [
    events([
      delta({ reasoning_content: "hm" }),
      delta({ content: "é😀" }),
      delta({ tool_calls: [{ index: 0, id: "a", function: { name: "sum", arguments: "" } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: "1}" } }] }),
      delta({}, "tool_calls"),
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 5 } } },
    ]),
  ];
  expect(await all([{ role: "user", content: "1 + 0" }])).toMatchObject([
    { type: "thinking", text: "hm" },
    { type: "text", text: "é😀" },
    { type: "tool_call", call: { id: "a", name: "sum", arguments: { a: 1 } } },
    { type: "done", reason: "tool_calls", usage: { promptTokens: 9, computedTokens: 4, answerTokens: 4 } },
  ]);
});

it("sends the form of the answers, with which no tools are called", async () => {
  const prompt: Message[] = [{ role: "user", content: "q" }];
  const tools: Tool[] = [{ type: "function", function: { name: "sum", parameters: { type: "object" } } }];
  const ask = async (responseFormat: ResponseFormat) => {
    answers = [events([delta({ content: "{}" }, "stop")])];
    await all(prompt, { responseFormat, tools });
    return bodies.at(-1);
  };
  expect(await ask({ type: "json_schema", schema: { type: "object" } })).toMatchObject({
    response_format: { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" } } },
    tool_choice: "none",
  });
  expect(await ask({ type: "json_schema", schema: true })).toMatchObject({
    response_format: { type: "json_schema", json_schema: { name: "answer", schema: {} } },
  });
  expect(await ask({ type: "choice", choices: ["yes", "no"] })).toMatchObject({
    response_format: { type: "choice", choices: ["yes", "no"] },
  });
});

it("says that an answer broke off, and what a server says in the middle of one", async () => {
  answers = [events([delta({ content: "so" })])];
  await expect(all([{ role: "user", content: "q" }])).rejects.toMatchObject({ code: "network" });
  answers = [events([delta({ content: "so" }), { error: { message: "the GPU is lost" } }])];
  await expect(all([{ role: "user", content: "q" }])).rejects.toThrow("127.0.0.1:8080: the GPU is lost.");
});

it("leaves out the oldest turns where the context is full, and says so", async () => {
  const full = () =>
    new Response(JSON.stringify({ error: { message: "too long", code: "context_length_exceeded" } }), { status: 400 });
  answers = [full(), events([delta({ content: "ok" }, "stop")])];
  const prompt: Message[] = [
    { role: "system", content: "s" },
    { role: "user", content: "1" },
    { role: "assistant", content: "one" },
    { role: "user", content: "2" },
  ];
  expect(await all(prompt)).toMatchObject([
    { type: "forgotten", messages: 2, known: 2 },
    { type: "text", text: "ok" },
    { type: "done", reason: "stop" },
  ]);
  expect(bodies[1]).toMatchObject({
    messages: [
      { role: "system", content: "s" },
      { role: "user", content: "2" },
    ],
  });
  answers = [full()];
  await expect(all(prompt.slice(-1))).rejects.toMatchObject({ code: "context-full" });
});

it("leaves the system text and the last question", () => {
  expect(withoutOldest([{ role: "user", content: "q" }])).toBe(null);
  expect(
    withoutOldest([
      { role: "system", content: "s" },
      { role: "user", content: "q" },
    ]),
  ).toBe(null);
});

it("finds the API whether an address names it or not, and takes no passwords in addresses", () => {
  for (const url of [
    "127.0.0.1:8080",
    "http://127.0.0.1:8080/",
    "http://127.0.0.1:8080/v1",
    "http://127.0.0.1:8080/v1/",
  ])
    expect(endpoint(url, "models").href).toBe("http://127.0.0.1:8080/v1/models");
  expect(endpoint("https://a.example/llm/v1", "models").href).toBe("https://a.example/llm/v1/models");
  expect(() => endpoint("http://a:b@c", "models")).toThrow("password");
  expect(() => endpoint("http://[", "models")).toThrow("is no address");
});

it("says that a page over HTTPS may ask no server over HTTP, other than on this machine", async () => {
  vi.stubGlobal("location", { protocol: "https:", origin: "https://app.example" });
  const signal = new AbortController().signal;
  await expect(ask({ url: "http://192.168.0.10:8080", key: "" }, "models", { signal })).rejects.toThrow("over HTTPS");
  answers = [new Response("{}")];
  await expect(ask({ url: "http://127.0.0.1:8080", key: "" }, "models", { signal })).resolves.toBeInstanceOf(Response);
});
