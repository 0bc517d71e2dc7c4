import { useRef, useState } from "react";
import { useToasts } from "../app/toasts";
import { Button } from "../ui/Button";
import { count, counted } from "../ui/format";
import { Progress } from "../ui/Progress";
import { saveFile } from "../ui/saveFile";
import type { Inserted } from "./api";
import { useHistory, whenOpened } from "./historyStore";

/** Export and import of all chats; both are the worker's, so that the page goes on meanwhile. */
export function TransferChats() {
  const { client, conversations, refresh } = useHistory();
  const { show, warn } = useToasts();
  const picker = useRef<HTMLInputElement>(null);

  const [inserted, setInserted] = useState<Inserted | null>(null);

  const exportAll = async () => {
    if (!client) return;
    const name = `gemwire-chats-${new Date().toISOString().slice(0, 10)}.json`;
    saveFile(new File([await client.archive()], name, { type: "application/json" }));
  };
  const importFile = async (file: File) => {
    await whenOpened();
    const { client } = useHistory.getState();
    if (!client) return;
    try {
      let state = await client.readArchive(file);
      while (state.done < state.total) {
        setInserted(state);
        state = await client.insertNext();
      }
      await refresh();
      show(state.total === 0 ? "All of these chats are already here." : `${counted(state.total, "chat")} imported.`);
    } catch (error) {
      warn(error instanceof Error ? error.message : "This file could not be read.");
    } finally {
      setInserted(null);
    }
  };

  return (
    <div className="flex flex-wrap gap-2">
      <Button icon="download" disabled={client === null || conversations.length === 0} onClick={() => void exportAll()}>
        Export all chats
      </Button>
      <Button icon="upload" disabled={client === null || inserted !== null} onClick={() => picker.current?.click()}>
        Import chats
      </Button>
      <input
        ref={picker}
        type="file"
        accept="application/json,.json"
        className="sr-only"
        tabIndex={-1}
        aria-label="File with chats"
        onChange={({ target }) => {
          const file = target.files?.[0];
          target.value = "";
          if (file) void importFile(file);
        }}
      />
      {inserted && (
        <div className="basis-full pt-1">
          <p className="pb-1 text-sm text-soft tabular-nums">
            {count(inserted.done)} of {counted(inserted.total, "chat")}…
          </p>
          <Progress label="Import of chats" {...inserted} />
        </div>
      )}
    </div>
  );
}
