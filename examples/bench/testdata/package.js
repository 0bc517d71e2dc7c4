// A package that answers as it is told by its own address: fail=1, short=1, webgpu=0.
const told = new URL(import.meta.url).searchParams;

export const version = "0.0.0";

export async function support() {
  return told.get("webgpu") === "0"
    ? { webgpu: false, reason: "This browser has none.", opfs: true }
    : {
        webgpu: true,
        adapter: { vendor: "vendor", architecture: "", device: "", description: "Scripted GPU", fallback: false },
        opfs: true,
      };
}

export class Model {
  #answers = 0;

  static async load(source, { context, onProgress }) {
    onProgress({ phase: "weights", done: 1, total: 2 });
    if (told.get("fail") === "1")
      throw Object.assign(new Error("The model does not fit."), { advice: "Take a smaller context." });
    return Object.assign(new Model(), {
      info: {
        name: "Scripted",
        fileSize: 12e6,
        context,
        device: "gpu",
        deviceName: "Scripted GPU",
        dispatches: 3,
        plan: { weights: 3e6, cache: 2e6, activations: 1e6, rows: 0 },
        adapter: { name: "Scripted GPU", vendor: "vendor", driver: "1.0", backend: "WebGPU", kind: "integrated" },
        features: {},
      },
    });
  }

  async reset() {}
  async close() {}
  async memory() {
    return { heap: 4e6, system: 8e6 };
  }

  async *chat(messages, { maxTokens, signal }) {
    const tokens = told.get("short") === "1" ? 1 : maxTokens;
    for (let i = 0; i < tokens; i++) {
      if (i % 100 === 99) await new Promise((later) => setTimeout(later, 10));
      signal.throwIfAborted();
      yield { type: "text", text: "a" };
    }
    const rate = tokens > 1 ? 10 + this.#answers++ : 0;
    yield {
      type: "done",
      reason: "length",
      usage: {
        promptTokens: 10,
        computedTokens: 10,
        answerTokens: tokens,
        prefillMs: 100,
        decodeMs: tokens,
        tokensPerSecond: rate,
      },
    };
  }
}
