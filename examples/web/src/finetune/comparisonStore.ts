import type { Message } from "gemwire";
import { create } from "zustand";
import { answering, labelWith, type AdapterUse } from "../adapters/answering";
import { newId, type ChatMessage } from "../chat/message";
import { chatOptionsOf } from "../chat/prompt";
import { streamAnswer } from "../chat/streamAnswer";
import { useEngine } from "../engine/engineStore";
import { recommended } from "../settings/sampling";

/** One question and what both sides say to it. */
export interface Exchange {
  id: string;
  question: string;
  base: ChatMessage;
  adapted: ChatMessage;
}

interface ComparisonState {
  exchanges: readonly Exchange[];
  busy: boolean;
  /** Asks the model as it is, and then with an adapter. */
  ask: (question: string, adapter: string, goOn: boolean) => Promise<void>;
  stop: () => void;
  clear: () => void;
}

/** Tokens of one answer: an adapter that has learned nothing good may not find an end. */
const longest = 512;

const sides = ["base", "adapted"] as const;

/** The conversation of one side: what was asked and answered there. */
function promptOf(exchanges: readonly Exchange[], side: (typeof sides)[number], question: string): Message[] {
  const before = exchanges.flatMap((exchange): Message[] => [
    { role: "user", content: exchange.question },
    { role: "assistant", content: exchange[side].content },
  ]);
  return [...before, { role: "user", content: question }];
}

function answerOf(id: string, side: string, model: string): ChatMessage {
  return {
    id: `${id} ${side}`,
    conversationId: id,
    model,
    parentId: null,
    role: "assistant",
    content: "",
    status: "streaming",
    createdAt: Date.now(),
  };
}

export const useComparison = create<ComparisonState>()((set, get) => {
  /** Begins anew with each question, and is stopped by the reader. */
  let controller = new AbortController();
  const put = (id: string, change: Partial<Exchange>) =>
    set({ exchanges: get().exchanges.map((exchange) => (exchange.id === id ? { ...exchange, ...change } : exchange)) });

  return {
    exchanges: [],
    busy: false,

    ask: async (question, adapter, goOn) => {
      const { engine } = useEngine.getState();
      if (get().busy || engine.state !== "ready") return;
      const before = goOn ? get().exchanges : [];
      const id = newId();
      controller = new AbortController();
      const adapters: Record<(typeof sides)[number], AdapterUse[]> = {
        base: [],
        adapted: [{ name: adapter, weight: 1 }],
      };
      const answerBy = (side: (typeof sides)[number]) => answerOf(id, side, labelWith(engine.label, adapters[side]));
      const exchange = { id, question, base: answerBy("base"), adapted: answerBy("adapted") };
      set({ busy: true, exchanges: [...get().exchanges, exchange] });
      for (const side of sides) {
        const { message } = await streamAnswer({
          message: exchange[side],
          // What is most probable on either side can be compared; what chance says cannot.
          events: answering(engine.model, adapters[side], promptOf(before, side, question), {
            ...chatOptionsOf({ ...recommended, temperature: 0, maxTokens: longest }, []),
            signal: controller.signal,
          }),
          onUpdate: ({ message: streamed }) => put(id, { [side]: streamed }),
        });
        put(id, { [side]: message });
      }
      set({ busy: false });
    },

    stop: () => controller.abort(),
    clear: () => set({ exchanges: [] }),
  };
});
