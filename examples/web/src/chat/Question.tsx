import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useSettings } from "../settings/settingsStore";
import { Button, IconButton } from "../ui/Button";
import { inputLook } from "../ui/Field";
import { isComposing, isSending } from "../ui/keys";
import { Attachments } from "./attachments/Attachments";
import { Branches } from "./Branches";
import { useChat } from "./chatStore";
import { editRequest } from "./editRequest";
import { composerId, focusComposer } from "./focusComposer";
import type { ChatMessage } from "./message";
import type { Tree } from "./tree";

export function Question({ message, tree, busy }: { message: ChatMessage; tree: Tree; busy: boolean }) {
  const [editing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const fromComposer = useRef(false);
  const edit = (asked: { byComposer: boolean }) => {
    fromComposer.current = asked.byComposer;
    setEditing(true);
  };
  useEffect(() => editRequest.listen(message.id, () => edit({ byComposer: true })), [message.id]);
  /** Gives the focus back to where the editing began. */
  const leave = () => {
    flushSync(() => setEditing(false));
    const opener =
      fromComposer.current || button.current?.disabled ? document.getElementById(composerId) : button.current;
    opener?.focus();
  };
  const sent = () => {
    setEditing(false);
    focusComposer();
  };
  if (editing) return <Editor message={message} onLeave={leave} onSend={sent} />;
  return (
    <article aria-label="You">
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          {message.content !== "" && (
            <p
              dir="auto"
              className="pt-1 text-[1.0625rem] leading-relaxed font-medium [overflow-wrap:anywhere] whitespace-pre-wrap"
            >
              {message.content}
            </p>
          )}
          {message.attachments && <Attachments attachments={message.attachments} />}
        </div>
        <IconButton
          ref={button}
          small
          icon="edit"
          label="Edit the question"
          disabled={busy}
          onClick={() => edit({ byComposer: false })}
        />
      </div>
      <div className="-ml-2 text-soft">
        <Branches message={message} tree={tree} busy={busy} of="question" />
      </div>
    </article>
  );
}

interface EditorProps {
  message: ChatMessage;
  onLeave: () => void;
  onSend: () => void;
}

function Editor({ message, onLeave, onSend }: EditorProps) {
  const edit = useChat((state) => state.edit);
  const enterSends = useSettings((state) => state.enterSends);
  const [text, setText] = useState(message.content);
  const changed = text.trim() !== "";
  const send = () => {
    if (!changed) return;
    onSend();
    void edit(message, text.trim());
  };
  return (
    <form
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        autoFocus
        aria-label="The question, edited"
        dir="auto"
        rows={Math.min(10, text.split("\n").length + 1)}
        className={`${inputLook} field-sizing-content max-h-[50dvh] min-h-18`}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return;
          if (event.key === "Escape") {
            event.preventDefault();
            onLeave();
          }
          if (isSending(event.nativeEvent, enterSends)) {
            event.preventDefault();
            send();
          }
        }}
      />
      <div className="flex flex-wrap items-center gap-2">
        <Button look="solid" type="submit" disabled={!changed}>
          Ask as a new branch
        </Button>
        <Button look="plain" onClick={onLeave}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
