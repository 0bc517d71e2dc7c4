import { GemwireError, type Suggestion } from "gemwire";

/** What went wrong in a sentence, what to do, and a smaller plan where one may help. */
export interface Failure {
  code: GemwireError["code"];
  sentence: string;
  advice: string;
  /** The engine's own words, for a report; nothing where the sentence has them. */
  details?: string;
  smaller?: Suggestion;
}

const sentences: Record<GemwireError["code"], [sentence: string, advice: string]> = {
  "no-webgpu": [
    "This browser does not offer WebGPU.",
    "Open gemwire in a browser that does. The Settings page lists them.",
  ],
  "out-of-memory": [
    "The device ran out of memory.",
    "Close other tabs that use the GPU, or load the model with a smaller context.",
  ],
  "device-lost": [
    "The GPU was lost: its driver restarted, or the system took it back.",
    "Your chat is safe. Reload the model to continue.",
  ],
  cancelled: ["Cancelled.", ""],
  "bad-argument": ["gemwire cannot do what was asked.", "Check the options of this chat."],
  "not-found": ["The model was not found.", "Check its name or URL on the Models page."],
  "bad-file": [
    "gemwire cannot read this file as a model.",
    "Check that it is a complete GGUF file of a Gemma 4 model.",
  ],
  "bad-media": ["This image or recording cannot be read.", "Try another format: PNG, JPEG or WebP; WAV, MP3 or FLAC."],
  "bad-data": ["These examples cannot be used for training.", "Fix the lines listed, or skip them."],
  "bad-adapter": ["The open model cannot use this adapter.", "Open the model it was made for."],
  diverged: ["The training diverged: the loss is no longer a number.", "Use a lower learning rate."],
  unsupported: [
    "This model uses something that gemwire does not support.",
    "Pick another file of the same model, such as Q4_K_M.",
  ],
  "context-full": [
    "The conversation no longer fits the model's context.",
    "Start a new chat, shorten the message, or load the model with a larger context.",
  ],
  network: [
    "The server could not be reached.",
    "Check the connection and try again. The download resumes where it stopped.",
  ],
  "no-ranges": ["This server cannot send parts of a file.", "Download the file, then open it from disk."],
  changed: ["The file changed on the server.", "Start the download again."],
  quota: ["There is not enough room in the browser's storage.", "Delete a model, or free space on the disk."],
  busy: ["The model is busy with another answer.", "Stop that answer first."],
  closed: ["The model was closed.", "Load it again."],
  internal: [
    "Something in gemwire went wrong.",
    "Try again. If it keeps happening, run the self-test and send us its report.",
  ],
};

/**
 * failureOf explains any error. The package's own sentences come first: they know more. Of a full context they name
 * what a program can do, so that the page's come first there.
 */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof GemwireError)) {
    const detail = error instanceof Error ? error.message : String(error);
    return { code: "internal", sentence: detail || sentences.internal[0], advice: sentences.internal[1] };
  }
  const [sentence, advice] = sentences[error.code];
  if (error.code === "context-full") return { code: error.code, sentence, advice };
  return withSmaller(error, {
    code: error.code,
    sentence: asSentence(error.message) || sentence,
    advice: error.advice ?? advice,
  });
}

/** What keeps a model from being opened, kept or looked at, where the words for chats do not do. */
const ofModels: Partial<typeof sentences> = {
  "no-webgpu": [
    "This model needs a GPU, and this browser offers none.",
    "Use the built-in model, or open gemwire in a browser that offers WebGPU. The Settings page lists them.",
  ],
  "out-of-memory": [
    "This device has too little memory for the model.",
    "Close other tabs that use the GPU, or choose a smaller model.",
  ],
  "device-lost": ["The GPU was lost: its driver restarted, or the system took it back.", "Load the model again."],
  "bad-argument": ["gemwire cannot open this model as the settings ask for.", "Look at Engine on the Settings page."],
  "bad-file": [
    "gemwire cannot read this file as a model.",
    "It may be incomplete: download it again. It has to be a GGUF file of a Gemma 4 model.",
  ],
  unsupported: [
    "gemwire does not support this kind of model.",
    "It runs Gemma 4 as GGUF. Try another file of the same model, such as Q4_0.",
  ],
  network: [
    "The server could not be reached.",
    "Check the address and the connection, and try again. What has arrived is kept.",
  ],
};

const offline: [sentence: string, advice: string] = [
  "This device is offline.",
  "Connect it and try again. What has arrived is kept.",
];

/**
 * modelFailureOf explains what became of a model in the reader's words. The engine's, which name bytes and fields, are
 * details.
 */
export function modelFailureOf(error: unknown): Failure {
  const code = error instanceof GemwireError ? error.code : "internal";
  const [sentence, advice] = code === "network" && !navigator.onLine ? offline : (ofModels[code] ?? sentences[code]);
  const said = error instanceof Error ? error.message : String(error);
  const failure = { code, sentence, advice, ...(said && { details: said }) };
  return error instanceof GemwireError ? withSmaller(error, failure) : failure;
}

/** A model that does not fit, with what would. */
export function tooLarge(suggestion?: Suggestion): Failure {
  return modelFailureOf(new GemwireError("out-of-memory", "", suggestion ? { suggestion } : {}));
}

/** A failure with the smaller plan that the engine knows of. */
function withSmaller({ suggestion }: GemwireError, failure: Failure): Failure {
  return suggestion && (suggestion.context !== undefined || suggestion.memoryBudget !== undefined)
    ? { ...failure, smaller: suggestion }
    : failure;
}

/** asSentence ends a text as a sentence ends, so that another can follow. */
export const asSentence = (text: string): string => {
  const trimmed = text.trim();
  return trimmed === "" || /[.!?…:]$/.test(trimmed) ? trimmed : `${trimmed}.`;
};

export const isCancelled = (error: unknown): boolean =>
  (error instanceof GemwireError && error.code === "cancelled") ||
  (error instanceof DOMException && error.name === "AbortError");
