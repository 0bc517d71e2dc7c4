import { GemwireError, type Suggestion } from "gemwire";

/** What went wrong in a sentence, what to do, and a smaller plan where one may help. */
export interface Failure {
  code: GemwireError["code"];
  sentence: string;
  advice: string;
  smaller?: Suggestion;
}

const sentences: Record<GemwireError["code"], [sentence: string, advice: string]> = {
  "no-webgpu": ["This browser offers no WebGPU.", "Open gemwire in a browser that does; the page on devices says which."],
  "out-of-memory": ["The device ran out of memory.", "Close other tabs that use the GPU, or load the model with a smaller plan."],
  "device-lost": ["The GPU went away: its driver was reset, or the system took it back.", "Your chat is kept. Reload the model to go on."],
  "cancelled": ["Cancelled.", ""],
  "bad-argument": ["gemwire was asked for something impossible.", "Check the options of this chat."],
  "not-found": ["The model is not there.", "Check its name or address on the Models page."],
  "bad-file": ["This file is not a model that gemwire can read.", "Check that it is a whole GGUF file of a Gemma 4 model."],
  "bad-media": ["This image or recording cannot be read.", "Try another format: PNG, JPEG or WebP; WAV, MP3 or FLAC."],
  "bad-data": ["These examples cannot be learned from.", "Mend the lines that are named, or pass over them."],
  "bad-adapter": ["This is no adapter that the open model can take.", "Open the model that it was made for."],
  "diverged": ["The training came apart: its losses are no numbers any more.", "Train with a smaller learning rate."],
  "unsupported": ["This model uses something that gemwire does not support.", "Pick another file of the same model, such as Q4_K_M."],
  "context-full": ["The conversation no longer fits the model's context.", "Start a new chat, or load the model with a larger context."],
  "network": ["The server could not be reached.", "Check the connection and try again; what was downloaded is kept."],
  "no-ranges": ["This server cannot send parts of a file.", "Download the file, then open it from disk."],
  "changed": ["The file changed on the server.", "Start the download again."],
  "quota": ["There is not enough room in the browser's storage.", "Delete a model, or free space on the disk."],
  "busy": ["The model is busy with another answer.", "Stop that answer first."],
  "closed": ["The model was closed.", "Load it again."],
  "internal": ["Something in gemwire went wrong.", "Try again; if it stays, run the self-test and send its report."],
};

/** failureOf explains any error. The package's own sentences come first: they know more. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof GemwireError)) {
    const detail = error instanceof Error ? error.message : String(error);
    return { code: "internal", sentence: detail || sentences.internal[0], advice: sentences.internal[1] };
  }
  const [sentence, advice] = sentences[error.code];
  const failure: Failure = { code: error.code, sentence: error.message || sentence, advice: error.advice ?? advice };
  const smaller = error.suggestion;
  return smaller && (smaller.context !== undefined || smaller.memoryBudget !== undefined) ? { ...failure, smaller } : failure;
}

export const isCancelled = (error: unknown): boolean =>
  (error instanceof GemwireError && error.code === "cancelled") || (error instanceof DOMException && error.name === "AbortError");
