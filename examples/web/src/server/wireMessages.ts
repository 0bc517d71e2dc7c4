import type { Message, Part } from "gemwire";
import { toBase64 } from "../history/base64";
import { minutes } from "../ui/format";

/** wireMessages puts a prompt into OpenAI's form: blobs become base64, and a video its frames, each behind its time. */
export const wireMessages = (prompt: readonly Message[]): Promise<object[]> => Promise.all(prompt.map(wireMessage));

async function wireMessage(message: Message): Promise<object> {
  const { content } = message;
  if (typeof content === "string" || !Array.isArray(content)) return message;
  return { ...message, content: (await Promise.all(content.map(wirePart))).flat() };
}

async function wirePart(part: Part): Promise<object[]> {
  switch (part.type) {
    case "image":
      return [await picture(part.image)];
    case "audio": {
      const blob = asBlob(part.audio);
      const data = toBase64(new Uint8Array(await blob.arrayBuffer()));
      return [{ type: "input_audio", input_audio: { data, format: formatOf(blob.type) } }];
    }
    case "video":
      return frames(part.video);
    default:
      return [part];
  }
}

async function frames(video: unknown): Promise<object[]> {
  const { frames: pictures, indices, fps } = video as { frames: unknown[]; indices: number[]; fps: number };
  const parts = await Promise.all(
    pictures.map(async (one, i) => [{ type: "text", text: minutes((indices[i] ?? 0) / fps) }, await picture(one)]),
  );
  return parts.flat();
}

async function picture(image: unknown): Promise<object> {
  const blob = asBlob(image);
  const data = toBase64(new Uint8Array(await blob.arrayBuffer()));
  return { type: "image_url", image_url: { url: `data:${blob.type || "image/png"};base64,${data}` } };
}

/** The app's own attachments are blobs, all of them. */
function asBlob(value: unknown): Blob {
  if (value instanceof Blob) return value;
  throw new TypeError("an attachment has no bytes");
}

/** "audio/wav" is "wav"; parameters behind it say nothing here. */
const formatOf = (type: string): string => /^audio\/(?:x-)?([\w.-]+)/.exec(type)?.[1] ?? "wav";
