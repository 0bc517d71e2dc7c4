import { useCallback, useRef, useState } from "react";
import { useEngine } from "../../engine/engineStore";
import { serverInUse } from "../../server/answerFrom";
import { useSettings } from "../../settings/settingsStore";
import type { Attachment } from "../message";
import { clipsIn } from "./clips";
import { attachmentsOf, LongRecording, mostAttachments } from "./media";
import { counted } from "../../ui/format";
import { useDroppedFiles } from "../../ui/useDroppedFiles";
import { emptyDraft, useDraftStore } from "../drafts";

/**
 * refusalOf says that the open model takes no such thing; null where it does, or where none is open yet. A server says
 * so itself.
 */
function refusalOf(kind: Attachment["kind"]): string | null {
  const { engine } = useEngine.getState();
  if (engine.state !== "ready" || serverInUse(useSettings.getState())) return null;
  const { images, audio } = engine.model.info;
  if (kind === "image" ? images : audio) return null;
  return (
    `The model ${engine.label} ${kind === "image" ? "cannot see images" : "cannot hear recordings"}. The Models ` +
    "page has others that do."
  );
}

/** Takes a file in, if the open model can do anything with it. */
async function taken(file: File, split: boolean): Promise<Attachment[]> {
  const attachments = await attachmentsOf(file, { split });
  for (const { kind } of attachments) {
    const refusal = refusalOf(kind);
    if (refusal !== null) throw new Error(refusal);
  }
  return attachments;
}

const lostText = (lost: number): string =>
  lost === 0
    ? ""
    : `${counted(lost, "attachment")} of this message did not outlast the reload. Attach again what you need.`;

/** What goes with the message of a chat, from whichever way it came: picked, pasted, dropped, recorded. */
export function useDrafts(key: string) {
  const { attachments, lost } = useDraftStore((state) => state.drafts.get(key) ?? emptyDraft);
  const change = useDraftStore((state) => state.change);
  const [refused, setRefused] = useState("");
  /** Recordings that wait for the reader's word to be taken in pieces. */
  const [long, setLong] = useState<readonly LongRecording[]>([]);

  const takeAll = useCallback(
    async (files: readonly File[], split: boolean) => {
      const sentences = new Set<string>();
      setRefused("");
      for (const file of files) {
        try {
          const more = await taken(file, split);
          change(key, (before) => ({ attachments: [...before.attachments, ...more], lost: 0 }));
        } catch (error) {
          if (error instanceof LongRecording) setLong((before) => [...before, error]);
          else sentences.add(error instanceof Error ? error.message : String(error));
        }
      }
      if (sentences.size > 0) setRefused([...sentences].join(" "));
    },
    [key, change],
  );
  /** When all files that were given before are taken in: attachments stand in the order in which they were given. */
  const before = useRef(Promise.resolve());
  const add = useCallback(
    (files: readonly File[], { split = false } = {}) => {
      before.current = before.current.then(() => takeAll(files, split));
      return before.current;
    },
    [takeAll],
  );
  const held = useDroppedFiles(add);

  const over = clipsIn(attachments).length - mostAttachments;
  return {
    attachments,
    long,
    add,
    refused:
      over > 0
        ? `A question can have ${mostAttachments} attachments: remove ${over}, or ask several questions.`
        : refused || lostText(lost),
    /** Whether they can go with a question. */
    fit: over <= 0,
    /** Whether files are held over the page. */
    held,
    refuse: setRefused,
    /** Takes a long recording in pieces, or leaves it. */
    settle: async (recording: LongRecording, take: boolean) => {
      setLong((before) => before.filter((one) => one !== recording));
      if (take) await add([recording.file], { split: true });
    },
    /** Whether a microphone is any use: a sentence that says why not, or null. */
    deaf: () => refusalOf("audio"),
    remove: (id: string) => {
      change(key, (before) => ({
        attachments: before.attachments.filter((one) => one.id !== id && one.video?.id !== id),
      }));
      setRefused("");
    },
    /** Forgets what was said about attachments. */
    clear: () => {
      setRefused("");
      setLong([]);
    },
  };
}
