/** What the next request to the model takes, in tokens, and what there is. */
export interface ContextRoom {
  /** The prompt as it will be sent: template, system prompt, tools, history and the message being written. */
  used: number;
  /** Kept free for the answer; 0: what the prompt leaves. */
  answer: number;
  /** All that a session holds. */
  context: number;
  /** The most that the model was made for. */
  most: number;
}

/** Shorter answers are not worth offering. */
const shortest = 64;

/** isFull says whether the model will refuse the request. */
export const isFull = ({ used, answer, context }: ContextRoom): boolean => used + Math.max(1, answer) > context;

export interface WaysOut {
  /** An answer of this many tokens would fit; null: none that is worth it. */
  shorter: number | null;
  /** The model can be loaded with a larger context. */
  larger: boolean;
}

/** waysOut is what can be done about a full context, beside a new chat. */
export function waysOut({ used, answer, context, most }: ContextRoom): WaysOut {
  const left = context - used;
  return { shorter: left >= shortest && left < answer ? left : null, larger: context < most };
}
