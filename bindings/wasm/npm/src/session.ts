import type { Connection } from "./connection.js";
import { cancelled } from "./error.js";
import { pack } from "./media.js";
import { checkChat, copied } from "./names.js";
import type { ChatParams, SessionResult, WireMedium } from "./protocol.js";
import { Queue } from "./queue.js";
import { onTheWire } from "./settings.js";
import { Turns } from "./turns.js";
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
  readonly #turns = new Turns();

  /** @internal */
  constructor(connection: Connection, made: SessionResult) {
    this.#connection = connection;
    this.#id = made.session;
    this.context = made.context;
  }

  /**
   * Answers a conversation, when the answers that were asked for before have ended. Leaving the loop ends the answer.
   */
  async *chat(messages: Message[], options: ChatOptions = {}): AsyncGenerator<ChatEvent, void, undefined> {
    checkChat(options);
    const { signal, ...rest } = options;
    const said = copied(messages);
    const wire = onTheWire(rest); // what is wrong with it is said without a wait
    const release = await this.#turns.take(signal);
    try {
      const { media, messages: packed } = await pack(said, signal);
      yield* this.#answer({ session: this.#id, messages: packed, ...wire }, media, release, signal);
    } finally {
      release();
    }
  }

  // The answer is made whether or not somebody reads it, so that the next one's turn comes when it has ended.
  async *#answer(
    params: ChatParams,
    media: WireMedium[],
    release: () => void,
    signal?: AbortSignal,
  ): AsyncGenerator<ChatEvent, void, undefined> {
    const left = new AbortController();
    const queue = new Queue<ChatEvent>();
    const either = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
    const answered = this.#connection
      .call("chat", params, { media, signal: either, onEvent: (event) => queue.push(event) })
      .then(
        () => queue.end(),
        (error: { code?: string }) =>
          queue.end(error.code === "cancelled" && signal?.aborted ? cancelled(signal) : error),
      )
      .finally(release);
    try {
      yield* queue.drain();
    } finally {
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
