// Training data as the worker takes it: JSONL in Blobs, and the media of its
// messages beside it.
import { GemwireError } from "./error.js";
import { pack } from "./media.js";
import type { WireMedium } from "./protocol.js";
import type { Message, TrainingData, TrainingExample } from "./types.js";

/** Bytes of a file of examples: Go holds all of it, and the tokens. */
const most = 256 << 20;

export interface WireData {
  blob: Blob;
  media: WireMedium[];
}

/** toWireData takes images and recordings out of examples. */
export async function toWireData(data: TrainingData, signal?: AbortSignal): Promise<WireData> {
  if (typeof data === "string") return checked({ blob: new Blob([data]), media: [] });
  if (data instanceof Blob) return checked({ blob: data, media: [] });
  if (!Array.isArray(data))
    throw new GemwireError("bad-argument", "training data is JSONL as text or as a file, or a list of examples");
  const lines: string[] = [],
    media: WireMedium[] = [];
  for (const [i, example] of (data as readonly TrainingExample[]).entries()) {
    const packed = await packOne(example, signal);
    lines.push(JSON.stringify(packed.example) ?? "null");
    media.push(...packed.media.map((medium) => ({ ...medium, example: i + 1 })));
  }
  return checked({ blob: new Blob([lines.join("\n")]), media });
}

async function packOne(
  example: TrainingExample,
  signal?: AbortSignal,
): Promise<{ example: TrainingExample; media: WireMedium[] }> {
  if (!example || typeof example !== "object" || !("messages" in example) || !Array.isArray(example.messages))
    return { example, media: [] };
  // Media are found by the number of their message.
  const { system, messages, ...rest } = example;
  const whole: Message[] = system === undefined ? messages : [{ role: "system", content: system }, ...messages];
  const packed = await pack(whole, signal);
  return { example: { ...rest, messages: packed.messages }, media: packed.media };
}

function checked(data: WireData): WireData {
  if (data.blob.size <= most) return data;
  throw new GemwireError(
    "bad-data",
    `${Math.ceil(data.blob.size / 1e6)} MB of training data, and ${Math.floor(most / 1e6)} MB are the limit`,
  );
}
