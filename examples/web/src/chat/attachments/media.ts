// The bytes of images and recordings: in memory while they are new, in the history from then on.
import { useEffect, useState } from "react";
import { useHistory } from "../../history/historyStore";
import { clock } from "../../ui/format";
import { newId, type Attachment, type ChatMessage } from "../message";
import { framesOf, usual } from "./frames";
import { durationOf, sizeOf } from "./probe";

const fresh = new Map<string, Blob>();

/** What a question takes at most; a video counts once. */
export const mostAttachments = 8;

const limits = { bytes: 32e6, videoBytes: 1e9, pixels: 100e6, seconds: 30, splitMinutes: 15 };

/** A recording that the model can hear in pieces alone. */
export class LongRecording extends Error {
  constructor(
    readonly file: File,
    seconds: number,
  ) {
    super(`${file.name} takes ${clock(seconds)} minutes. The model can hear ${limits.seconds} seconds at a time.`);
  }
}

/**
 * attachmentsOf takes a file in, a video as its frames, or throws an Error that says why not; that is a LongRecording
 * where the file could be taken with split.
 */
export async function attachmentsOf(file: File, { split = false } = {}): Promise<Attachment[]> {
  const name = file.name || "The file";
  const kind = kindOf(file);
  if (kind === null) throw new Error(`${name} is neither an image nor a recording.`);
  if (file.size === 0) throw new Error(`${name} is empty.`);
  if (kind === "video") {
    const frames = await framesIn(file, name);
    if (frames.length > 0) return frames;
  }
  if (file.size > limits.bytes) throw new Error(`${name} is larger than 32 MB.`);
  if (kind === "image") await checkImage(file, name);
  else await checkRecording(file, name, split);
  return [attach(file, { kind: kind === "image" ? "image" : "audio", name })];
}

function attach(blob: Blob, about: Pick<Attachment, "kind" | "name" | "at" | "video">): Attachment {
  const attachment = { id: newId(), type: blob.type || `${about.kind}/*`, size: blob.size, ...about };
  fresh.set(attachment.id, blob);
  return attachment;
}

function kindOf({ type, name }: File): Attachment["kind"] | "video" | null {
  if (type.startsWith("image/")) return "image";
  if (type.startsWith("audio/")) return "audio";
  if (type.startsWith("video/")) return "video";
  return type === "" && /\.(flac|opus|ogg|m4a|mp3|wav)$/i.test(name) ? "audio" : null;
}

/** The frames of a video; none of a file that says it is one and holds sound alone, as recorders write them. */
async function framesIn(file: File, name: string): Promise<Attachment[]> {
  if (file.size > limits.videoBytes) throw new Error(`${name} is larger than 1 GB.`);
  const frames = await framesOf(file);
  if (!frames) throw new Error(`${name} is not a video this browser can play.`);
  const id = newId();
  return frames.map(({ index, picture }) =>
    attach(picture, {
      kind: "image",
      name: `${name}, ${clock(index / usual.fps)}`,
      video: { id, index, fps: usual.fps },
    }),
  );
}

async function checkImage(file: File, name: string): Promise<void> {
  const size = await sizeOf(file);
  if (!size) throw new Error(`${name} is not an image this browser can show.`);
  if (size.width * size.height > limits.pixels)
    throw new Error(`${name} has more than 100 megapixels. Make it smaller first.`);
}

async function checkRecording(file: File, name: string, split: boolean): Promise<void> {
  const seconds = await durationOf(file);
  if (seconds === null) throw new Error(`${name} is not a recording this browser can play.`);
  if (seconds > 60 * limits.splitMinutes)
    throw new Error(
      `${name} takes ${clock(seconds)} minutes, and ${limits.splitMinutes} is the limit. Shorten it first.`,
    );
  // Encoders fill their last frame up.
  if (seconds > limits.seconds + 0.1 && !split) throw new LongRecording(file, seconds);
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

export const forgetMedia = (): void => {
  fresh.clear();
};

/** An address for an image or a player; null until it is there, undefined where the bytes are gone. */
export function useMediaUrl(attachment: Attachment): string | null | undefined {
  const [url, setUrl] = useState<string | null | undefined>(null);
  useEffect(() => {
    let made: string | undefined;
    let gone = false;
    void blobOf(attachment).then(
      (blob) => {
        if (gone) return;
        made = blob ? URL.createObjectURL(blob) : undefined;
        setUrl(made);
      },
      () => setUrl(undefined),
    );
    return () => {
      gone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [attachment]);
  return url;
}
