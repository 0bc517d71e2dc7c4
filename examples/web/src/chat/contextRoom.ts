/** What the next request to the model takes, in tokens, and what there is. */
export interface ContextRoom {
  /** The prompt with the whole chat: template, system prompt, tools, history and the message being written. */
  used: number;
  /** All that a session holds. */
  context: number;
  /** The most that the model was made for. */
  most: number;
  /** The oldest messages are left out where their room is needed. */
  forgets: boolean;
}

/** isFull says whether the model will refuse the request. An answer takes what is left. */
export const isFull = ({ used, context, forgets }: ContextRoom): boolean => !forgets && used >= context;

/** What is kept free for an answer before anything is forgotten. */
const answerRoom = (context: number): number => Math.min(2048, Math.floor(context / 4));

/** outlookOf says what becomes of the oldest messages when this is sent. */
export function outlookOf({ used, context, forgets }: ContextRoom): "roomy" | "tight" | "leaving" {
  const limit = forgets ? context - answerRoom(context) : context;
  if (forgets && used > limit) return "leaving";
  return used > limit - Math.floor(context / 8) ? "tight" : "roomy";
}
