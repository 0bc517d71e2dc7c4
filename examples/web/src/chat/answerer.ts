import type { ChatEvent, ChatOptions, Message } from "gemwire";
import { answering, labelWith } from "../adapters/answering";
import { useEngine } from "../engine/engineStore";
import { serverInUse } from "../server/answerFrom";
import { hostOf } from "../server/server";
import { serverAnswer } from "../server/serverAnswer";
import { useSettings } from "../settings/settingsStore";
import { formatOf, type AnswerForm } from "./form/answerForm";
import type { ConversationOptions } from "./message";

/** Whoever answers a question: the model in the tab, or one of a server. */
export interface Answerer {
  /** How the answer names it. */
  label: (options: ConversationOptions) => string;
  answer: (chat: ConversationOptions, prompt: Message[], options: ChatOptions) => AsyncIterable<ChatEvent>;
  /** Gives back the memory that images and recordings have needed on this device. */
  releaseTowers: () => Promise<void>;
}

/** Ends the answer of a server that is under way. */
let leaving: AbortController | null = null;

/** answererNow is who answers, or null where nobody can. */
export function answererNow(): Answerer | null {
  const server = serverInUse(useSettings.getState());
  if (server)
    return {
      label: () => `${server.model} on ${hostOf(server.url)}`,
      answer: ({ form }, prompt, options) => {
        const { signal } = (leaving = new AbortController());
        return held(form, options, (asked) => serverAnswer(server, prompt, { ...asked, signal }));
      },
      releaseTowers: () => Promise.resolve(),
    };
  const { engine } = useEngine.getState();
  if (engine.state !== "ready") return null;
  const { model, label } = engine;
  return {
    label: ({ adapters }) => labelWith(label, adapters),
    answer: ({ adapters, form }, prompt, options) =>
      held(form, options, (asked) => answering(model, adapters, prompt, asked)),
    releaseTowers: () => model.releaseTowers().catch(() => undefined),
  };
}

/** An answer held to the form of its chat. A form that cannot be read fails as an answer does. */
async function* held(
  form: AnswerForm,
  options: ChatOptions,
  answer: (asked: ChatOptions) => AsyncIterable<ChatEvent>,
): AsyncGenerator<ChatEvent, void, undefined> {
  const responseFormat = formatOf(form);
  yield* answer(responseFormat ? { ...options, responseFormat } : options);
}

/** stopAnswer ends the answer under way, which keeps what it has. */
export function stopAnswer(): void {
  leaving?.abort();
  leaving = null;
  const { engine } = useEngine.getState();
  if (engine.state === "ready") engine.model.stop();
}
