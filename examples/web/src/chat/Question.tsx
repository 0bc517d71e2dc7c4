import { useEffect, useState } from "react";
import { Button, IconButton } from "../ui/Button";
import { inputLook } from "../ui/Field";
import { Attachments } from "./attachments/Attachments";
import { Branches } from "./Branches";
import { useChat } from "./chatStore";
import { editRequest } from "./editRequest";
import type { ChatMessage } from "./message";
import type { Tree } from "./tree";

export function Question({ message, tree, busy }: { message: ChatMessage; tree: Tree; busy: boolean }) {
  const [editing, setEditing] = useState(false);
  useEffect(() => editRequest.listen(message.id, () => setEditing(true)), [message.id]);
  if (editing) return <Editor message={message} onClose={() => setEditing(false)} />;
  return (
    <article aria-label="You">
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          {message.content !== "" && <p className="pt-1 text-[1.0625rem] leading-relaxed font-medium [overflow-wrap:anywhere] whitespace-pre-wrap">{message.content}</p>}
          {message.attachments && <Attachments attachments={message.attachments} />}
        </div>
        <IconButton small icon="edit" label="Edit the question" disabled={busy} onClick={() => setEditing(true)} />
      </div>
      <div className="-ml-2 text-soft"><Branches message={message} tree={tree} busy={busy} of="question" /></div>
    </article>
  );
}

function Editor({ message, onClose }: { message: ChatMessage; onClose: () => void }) {
  const edit = useChat((state) => state.edit);
  const [text, setText] = useState(message.content);
  const changed = text.trim() !== "";
  const send = () => {
    if (!changed) return;
    onClose();
    void edit(message, text.trim());
  };
  return (
    <form className="space-y-2" onSubmit={(event) => { event.preventDefault(); send(); }}>
      <textarea autoFocus aria-label="The question, edited" rows={Math.min(10, text.split("\n").length + 1)} className={`${inputLook} field-sizing-content max-h-[50dvh] min-h-18`} value={text} onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") { event.preventDefault(); onClose(); }
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) { event.preventDefault(); send(); }
        }} />
      <div className="flex flex-wrap items-center gap-2">
        <Button look="solid" type="submit" disabled={!changed}>Ask as a new branch</Button>
        <Button look="plain" onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}
