// The bytes of images and recordings: in memory while they are new, in the history from then on.
import { useEffect, useState } from "react";
import { useHistory } from "../../history/historyStore";
import { newId, type Attachment, type ChatMessage } from "../message";
import { durationOf, sizeOf } from "./probe";

const fresh = new Map<string, Blob>();

const limits = { bytes: 32e6, pixels: 100e6, seconds: 30 };

/** attachmentOf takes a file in, or throws an Error that says why not. */
export async function attachmentOf(file: File): Promise<Attachment> {
  const name = file.name || "The file";
  const kind = kindOf(file);
  if (kind === null) throw new Error(`${name} is neither an image nor a recording.`);
  if (file.size === 0) throw new Error(`${name} is empty.`);
  if (file.size > limits.bytes) throw new Error(`${name} is larger than 32 MB.`);
  await (kind === "image" ? checkImage : checkRecording)(file, name);
  const attachment = { id: newId(), kind, name, type: file.type || `${kind}/*`, size: file.size };
  fresh.set(attachment.id, file);
  return attachment;
}

function kindOf({ type, name }: File): Attachment["kind"] | null {
  if (type.startsWith("image/")) return "image";
  if (type.startsWith("audio/") || type.startsWith("video/webm")) return "audio";
  return type === "" && /\.(flac|opus|ogg|m4a|mp3|wav)$/i.test(name) ? "audio" : null;
}

async function checkImage(file: File, name: string): Promise<void> {
  const size = await sizeOf(file);
  if (!size) throw new Error(`${name} is no image that this browser can show.`);
  if (size.width * size.height > limits.pixels) throw new Error(`${name} has more than 100 megapixels. Shrink it first.`);
}

async function checkRecording(file: File, name: string): Promise<void> {
  const seconds = await durationOf(file);
  if (seconds === null) throw new Error(`${name} is no recording that this browser can play.`);
  // Encoders fill their last frame up.
  if (seconds > limits.seconds + 0.1) throw new Error(`${name} takes ${Math.round(seconds)} seconds, and the model hears ${limits.seconds} at a time. Cut it first.`);
}

/** Writes what is new into the history, behind its conversation. */
export async function keep(attachments: readonly Attachment[], conversationId: string): Promise<void> {
  for (const { id } of attachments) {
    const blob = fresh.get(id);
    if (!blob) continue;
    await useHistory.getState().saveMedia(id, conversationId, new Uint8Array(await blob.arrayBuffer()));
  }
}

export async function blobOf({ id, type }: Attachment): Promise<Blob | null> {
  const known = fresh.get(id);
  if (known) return known;
  const bytes = await useHistory.getState().client?.media(id);
  return bytes ? new Blob([bytes as Uint8Array<ArrayBuffer>], { type }) : null;
}

/** The bytes of all that a branch shows, by id. */
export async function mediaOf(path: readonly ChatMessage[]): Promise<ReadonlyMap<string, Blob>> {
  const found = new Map<string, Blob>();
  for (const attachment of path.flatMap(({ attachments }) => attachments ?? [])) {
    const blob = await blobOf(attachment);
    if (blob) found.set(attachment.id, blob);
  }
  return found;
}

export const forgetMedia = (): void => { fresh.clear(); };

/** An address for an image or a player; null until it is there, undefined where the bytes are gone. */
export function useMediaUrl(attachment: Attachment): string | null | undefined {
  const [url, setUrl] = useState<string | null | undefined>(null);
  useEffect(() => {
    let made: string | undefined;
    let gone = false;
    void blobOf(attachment).then((blob) => {
      if (gone) return;
      made = blob ? URL.createObjectURL(blob) : undefined;
      setUrl(made);
    }, () => setUrl(undefined));
    return () => {
      gone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [attachment]);
  return url;
}
