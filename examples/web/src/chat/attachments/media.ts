// The bytes of images and recordings: in memory while they are new, in the history from then on.
import { useEffect, useState } from "react";
import { useHistory } from "../../history/historyStore";
import { newId, type Attachment, type ChatMessage } from "../message";

const fresh = new Map<string, Blob>();

export const largest = 32e6;

/** attachmentOf takes a file in, or throws an Error that says why not. */
export function attachmentOf(file: File): Attachment {
  const kind = file.type.startsWith("image/") ? "image" : file.type.startsWith("audio/") || file.type.startsWith("video/webm") ? "audio" : null;
  if (kind === null) throw new Error(`${file.name} is neither an image nor a recording.`);
  if (file.size > largest) throw new Error(`${file.name} is larger than 32 MB.`);
  const attachment = { id: newId(), kind, name: file.name, type: file.type, size: file.size } as const;
  fresh.set(attachment.id, file);
  return attachment;
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
