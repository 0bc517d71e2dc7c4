import { useCallback, useState } from "react";
import { useEngine } from "../../engine/engineStore";
import type { Attachment } from "../message";
import { attachmentOf } from "./media";
import { useDroppedFiles } from "./useDroppedFiles";

/** What a question takes at most. */
const most = 8;

/** refusalOf says that the open model takes no such thing; null where it does, or where none is open yet. */
function refusalOf(kind: Attachment["kind"]): string | null {
  const { engine } = useEngine.getState();
  if (engine.state !== "ready") return null;
  const { images, audio } = engine.model.info;
  if (kind === "image" ? images : audio) return null;
  return `The model ${engine.label} ${kind === "image" ? "sees no images" : "hears no recordings"}. The Models page has others that do.`;
}

/** What goes with the message, from whichever way it came: picked, pasted, dropped, recorded. */
export function useDrafts() {
  const [drafts, setDrafts] = useState<readonly Attachment[]>([]);
  const [refused, setRefused] = useState("");

  const add = useCallback(async (files: readonly File[]) => {
    const sentences = new Set<string>();
    setRefused("");
    for (const file of files) {
      try {
        const attachment = await attachmentOf(file);
        const refusal = refusalOf(attachment.kind);
        if (refusal !== null) throw new Error(refusal);
        setDrafts((before) => [...before, attachment].slice(0, most));
      } catch (error) {
        sentences.add(error instanceof Error ? error.message : String(error));
      }
    }
    if (sentences.size > 0) setRefused([...sentences].join(" "));
  }, []);
  const held = useDroppedFiles(add);

  return {
    drafts, refused, add,
    /** Whether files are held over the page. */
    held,
    refuse: setRefused,
    /** Whether a microphone is any use: a sentence that says why not, or null. */
    deaf: () => refusalOf("audio"),
    remove: (id: string) => {
      setDrafts((before) => before.filter((one) => one.id !== id));
      setRefused("");
    },
    clear: () => {
      setDrafts([]);
      setRefused("");
    },
  };
}
