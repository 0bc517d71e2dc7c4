// What comes back of a request in OpenAI's form.

export type FinishReason = "stop" | "length" | "tool_calls";

export interface CompletionToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface CompletionTokenLogprob {
  token: string;
  logprob: number;
  /** Not told: a token may end within a character. */
  bytes: null;
}

export interface CompletionLogprobs {
  content: (CompletionTokenLogprob & { top_logprobs: CompletionTokenLogprob[] })[];
  refusal: null;
}

export interface Completion {
  id: string;
  object: "chat.completion";
  created: number;
  model: string;
  choices: [
    {
      index: 0;
      message: {
        role: "assistant";
        content: string | null;
        reasoning?: string;
        tool_calls?: CompletionToolCall[];
        refusal: null;
      };
      finish_reason: FinishReason;
      logprobs: CompletionLogprobs | null;
    },
  ];
  usage: CompletionUsage;
}

export interface CompletionChunk {
  id: string;
  object: "chat.completion.chunk";
  created: number;
  model: string;
  choices: {
    index: 0;
    delta: {
      role?: "assistant";
      content?: string;
      reasoning?: string;
      tool_calls?: ({ index: number } & CompletionToolCall)[];
    };
    finish_reason: FinishReason | null;
    logprobs: CompletionLogprobs | null;
  }[];
  usage?: CompletionUsage | null;
}
