import type { Connection } from "./connection.js";
import { cancelled } from "./error.js";
import { pack } from "./media.js";
import type { ChatParams, SessionResult } from "./protocol.js";
import { Queue } from "./queue.js";
import { onTheWire } from "./settings.js";
import type { ChatEvent, ChatOptions, Message } from "./types.js";

/**
 * One conversation with caches of its own. What a prompt has in common with the
 * one before is not computed again, so that a session is best kept for one
 * conversation.
 */
export class Session {
  /** Tokens that it holds, prompt and answers together. */
  readonly context: number;
  readonly #connection: Connection;
  readonly #id: number;

  /** @internal */
  constructor(connection: Connection, made: SessionResult) {
    this.#connection = connection;
    this.#id = made.session;
    this.context = made.context;
  }

  /** Answers a conversation. Leaving the loop ends the answer. */
  async *chat(messages: Message[], options: ChatOptions = {}): AsyncGenerator<ChatEvent, void, undefined> {
    const { signal, ...rest } = options;
    const { media, messages: packed } = await pack(messages, signal);
    const params: ChatParams = { session: this.#id, messages: packed, ...onTheWire(rest) };
    const left = new AbortController();
    const queue = new Queue<ChatEvent>();
    const either = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
    const answered = this.#connection
      .call("chat", params, { media, signal: either, onEvent: (event) => queue.push(event) })
      .then(
        () => queue.end(),
        (error: { code?: string }) =>
          queue.end(error.code === "cancelled" && signal?.aborted ? cancelled(signal) : error),
      );
    try {
      yield* queue.drain();
    } finally {
      // The session is free for the next answer when this one is told to have ended.
      left.abort();
      await answered;
    }
  }

  /** How many tokens of the conversation are in the caches. */
  async length(): Promise<number> {
    return (await this.#connection.call("sessionState", { session: this.#id })).length;
  }

  /** Forgets the conversation, ending the answer under way. */
  async reset(): Promise<void> {
    await this.#connection.call("reset", { session: this.#id });
  }

  /** Frees the caches, ending the answer under way. */
  async close(): Promise<void> {
    await this.#connection.call("endSession", { session: this.#id });
  }
}
