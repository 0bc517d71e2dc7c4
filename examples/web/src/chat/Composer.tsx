import { useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { composerId } from "../app/shortcuts";
import { useEngine, whenLoaded } from "../engine/engineStore";
import { useSettings } from "../settings/settingsStore";
import { Icon } from "../ui/Icon";
import { useChat } from "./chatStore";
import { editRequest } from "./editRequest";
import { pathTo } from "./tree";

/** Where the message is written. While an answer runs, its button stops it. */
export function Composer() {
  const { ask, stop, run, conversation, tree } = useChat();
  const engine = useEngine((state) => state.engine.state);
  const enterSends = useSettings((state) => state.enterSends);
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  // A message that is sent while the model loads goes off when it is ready.
  const [waiting, setWaiting] = useState(false);
  const sendable = (engine === "ready" || engine === "loading") && run === null && text.trim() !== "";

  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 220)}px`;
  }, [text]);

  const send = async () => {
    if (!sendable || waiting) return;
    setWaiting(true);
    const ready = await whenLoaded();
    setWaiting(false);
    const question = field.current?.value.trim() ?? "";
    if (!ready || question === "") return;
    setText("");
    await ask(question);
  };
  const editLast = () => {
    const question = pathTo(tree, conversation.leafId).findLast(({ role }) => role === "user");
    if (question) editRequest.send(question.id);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && event.shiftKey !== enterSends) {
      event.preventDefault();
      void send();
    }
    if (event.key === "ArrowUp" && text === "" && run === null) {
      event.preventDefault();
      editLast();
    }
  };

  return (
    <>
      <form className="flex items-end gap-1 rounded-xl border border-edge bg-raised p-1.5 shadow-[0_1px_8px_rgb(0_0_0/5%)] focus-within:border-soft" onSubmit={(event) => { event.preventDefault(); void send(); }}>
      <label htmlFor={composerId} className="sr-only">Message</label>
      <textarea id={composerId} ref={field} rows={1} value={text} onChange={({ target }) => setText(target.value)} onKeyDown={onKeyDown} placeholder="Ask something" enterKeyHint={enterSends ? "send" : "enter"}
        className="min-h-10 flex-1 resize-none bg-transparent px-2.5 py-2 text-base outline-none placeholder:text-soft" />
      {run
        ? (
          <button type="button" onClick={stop} aria-label="Stop the answer" title="Stop (Esc)" className="inline-flex size-10 items-center justify-center rounded-lg border-[1.5px] border-wire text-wire hover:bg-sunk">
            <Icon name="stop" className="size-5 fill-current" />
          </button>
        )
        : (
          <button type="submit" disabled={!sendable} aria-label="Send" title={enterSends ? "Send (Enter)" : "Send (Shift + Enter)"} className="inline-flex size-10 items-center justify-center rounded-lg bg-accent text-on-accent hover:brightness-110 disabled:bg-sunk disabled:text-soft">
            <Icon name="send" />
          </button>
        )}
      </form>
      <p role="status" className="px-2 text-sm text-wire empty:hidden">{waiting && engine === "loading" ? "Will be sent when the model is ready." : ""}</p>
    </>
  );
}
