/** No event of an answer is longer; one that is comes from no such server. */
const mostCharacters = 8 << 20;

/** eventData reads the data of server-sent events, which arrive in pieces that end anywhere. */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split(/\r?\n/);
      rest = done ? "" : (lines.pop() ?? "");
      if (rest.length > mostCharacters) throw new Error("The server sent a line without end.");
      for (const line of lines) if (line.startsWith("data:")) yield line.slice("data:".length).trim();
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
