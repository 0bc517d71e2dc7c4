import { useRef } from "react";
import { useToasts } from "../app/toasts";
import { Button } from "../ui/Button";
import { saveFile } from "../ui/saveFile";
import type { Medium } from "./api";
import { useHistory } from "./historyStore";
import { exportJson, freshIds, importJson } from "./transfer";

/** Export and import of all chats. */
export function TransferChats() {
  const { client, conversations, refresh } = useHistory();
  const show = useToasts((state) => state.show);
  const picker = useRef<HTMLInputElement>(null);

  const exportAll = async () => {
    if (!client) return;
    const messages = (await Promise.all(conversations.map(({ id }) => client.messages(id)))).flat();
    const media: Medium[] = [];
    for (const { conversationId, attachments } of messages) {
      for (const { id } of attachments ?? []) {
        const data = media.some((medium) => medium.id === id) ? null : await client.media(id);
        if (data) media.push({ id, conversationId, data });
      }
    }
    saveFile(new File([exportJson({ conversations, messages, media })], `gemwire-chats-${new Date().toISOString().slice(0, 10)}.json`, { type: "application/json" }));
  };
  const importFile = async (file: File) => {
    if (!client) return;
    try {
      const archive = freshIds(importJson(await file.text()), conversations);
      await client.insert(archive.conversations, archive.messages, archive.media);
      await refresh();
      const count = archive.conversations.length;
      show(count === 0 ? "All of these chats are already here." : `${count} ${count === 1 ? "chat" : "chats"} imported.`);
    } catch (error) {
      show(error instanceof Error ? error.message : "This file could not be read.");
    }
  };

  return (
    <div className="flex flex-wrap gap-2">
      <Button icon="download" disabled={conversations.length === 0} onClick={() => void exportAll()}>Export all chats</Button>
      <Button icon="upload" onClick={() => picker.current?.click()}>Import chats</Button>
      <input ref={picker} type="file" accept="application/json,.json" className="sr-only" tabIndex={-1} aria-label="File with chats" onChange={({ target }) => {
        const file = target.files?.[0];
        target.value = "";
        if (file) void importFile(file);
      }} />
    </div>
  );
}
