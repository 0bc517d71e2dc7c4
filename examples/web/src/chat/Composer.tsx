import { useEffect, useLayoutEffect, useRef, useState, type ClipboardEvent, type KeyboardEvent } from "react";
import { useEngine, whenLoaded } from "../engine/engineStore";
import { serverInUse } from "../server/answerFrom";
import { useSettings } from "../settings/settingsStore";
import { IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { isComposing, isSending } from "../ui/keys";
import { Drafts } from "./attachments/Drafts";
import { LongRecordings } from "./attachments/LongRecordings";
import { RecordingBar } from "./attachments/RecordingBar";
import { useDrafts } from "./attachments/useDrafts";
import { useRecorder } from "./attachments/useRecorder";
import { useChat } from "./chatStore";
import { draftKey, emptyDraft, useDraftStore } from "./drafts";
import { editRequest } from "./editRequest";
import { composerId, focusComposer } from "./focusComposer";
import { pathTo } from "./tree";

/**
 * Where the message is written. While an answer runs, its button stops it; where the context is full, nothing is sent.
 */
export function Composer({ full }: { full: boolean }) {
  const { ask, stop, run, conversation, tree } = useChat();
  const engine = useEngine((state) => state.engine.state);
  const remote = useSettings(serverInUse) !== null;
  const enterSends = useSettings((state) => state.enterSends);
  const key = draftKey(conversation, tree);
  const { text } = useDraftStore((state) => state.drafts.get(key) ?? emptyDraft);
  const { change, drop } = useDraftStore();
  const { attachments, fit, refused, long, held, add, settle, refuse, deaf, remove, clear } = useDrafts(key);
  const field = useRef<HTMLTextAreaElement>(null);
  const recorder = useRecorder({ onRecorded: (file) => void add([file]), onRefused: refuse });
  const recording = recorder.state === "recording";
  // A message that is sent while the model loads goes off when it is ready.
  const [waiting, setWaiting] = useState(false);
  const sendable =
    (remote || engine === "ready" || engine === "loading") &&
    run === null &&
    !full &&
    fit &&
    (text.trim() !== "" || attachments.length > 0);

  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    // A field without text is as high as it is: to measure it would lay out a page that has only just been made.
    if (text !== "") element.style.height = `${Math.min(element.scrollHeight, 220)}px`;
  }, [text]);

  // A chat that is opened with nothing else in focus, or a new one, is there to be written in.
  useEffect(() => {
    const idle = document.activeElement === null || document.activeElement === document.body;
    if (idle || key === "new") focusComposer();
  }, [key, conversation.id]);

  const send = async () => {
    if (!sendable || waiting) return;
    setWaiting(true);
    const ready = remote || (await whenLoaded());
    setWaiting(false);
    const shown = useChat.getState();
    const draft = useDraftStore.getState().drafts.get(key) ?? emptyDraft;
    const question = draft.text.trim();
    // A message of a chat that was left meanwhile waits there.
    if (!ready || draftKey(shown.conversation, shown.tree) !== key) return;
    if (question === "" && draft.attachments.length === 0) return;
    drop(key);
    clear();
    await ask(question, draft.attachments);
  };
  const editLast = () => {
    const question = pathTo(tree, conversation.leafId).findLast(({ role }) => role === "user");
    if (question) editRequest.send(question.id);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event.nativeEvent)) return;
    if (isSending(event.nativeEvent, enterSends)) {
      event.preventDefault();
      void send();
    }
    if (event.key === "ArrowUp" && text === "" && run === null) {
      event.preventDefault();
      editLast();
    }
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  };
  const record = () => {
    const sentence = deaf();
    if (sentence === null) void recorder.start();
    else refuse(sentence);
  };
  const endRecording = (keep: boolean) => {
    recorder.end(keep);
    requestAnimationFrame(() => field.current?.focus());
  };

  return (
    <>
      <form
        aria-label="Question"
        className={
          `rounded-xl border ${held ? "border-accent outline-2 outline-accent" : "border-edge"} bg-raised p-1.5 ` +
          "shadow-[0_1px_8px_rgb(0_0_0/5%)] focus-within:border-soft"
        }
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <Drafts attachments={attachments} onRemove={remove} />
        {refused !== "" && (
          <p role="alert" className="px-2.5 pt-0.5 pb-1.5 text-sm text-danger">
            {refused}
          </p>
        )}
        <LongRecordings recordings={long} onSettled={(recording, take) => void settle(recording, take)} />
        <div className="flex items-end gap-1">
          {recording && <RecordingBar level={recorder.level} seconds={recorder.seconds} end={endRecording} />}
          {!recording && <AttachButton onFiles={(files) => void add(files)} />}
          <label htmlFor={composerId} className="sr-only">
            Message
          </label>
          <textarea
            id={composerId}
            ref={field}
            rows={1}
            dir="auto"
            value={text}
            onChange={({ target }) => change(key, () => ({ text: target.value, lost: 0 }))}
            onKeyDown={onKeyDown}
            onPaste={onPaste}
            placeholder={held ? "Drop to attach" : "Ask something"}
            enterKeyHint={enterSends ? "send" : "enter"}
            hidden={recording}
            className={
              "min-h-10 min-w-0 flex-1 resize-none bg-transparent px-2.5 py-2 text-base outline-none " +
              "placeholder:text-soft"
            }
          />
          {!recording && (
            <IconButton icon="microphone" label="Record" disabled={recorder.state === "starting"} onClick={record} />
          )}
          {!recording &&
            (run ? (
              <button
                type="button"
                onClick={stop}
                aria-label="Stop the answer"
                title="Stop (Esc)"
                className={
                  "inline-flex size-10 shrink-0 items-center justify-center rounded-lg border-[1.5px] border-wire " +
                  "text-wire hover:bg-sunk"
                }
              >
                <Icon name="stop" className="size-5 fill-current" />
              </button>
            ) : (
              <button
                type="submit"
                disabled={!sendable}
                aria-label="Send"
                title={enterSends ? "Send (Enter)" : "Send (Shift + Enter)"}
                className={
                  "inline-flex size-10 shrink-0 items-center justify-center rounded-lg bg-accent text-on-accent " +
                  "hover:brightness-110 disabled:bg-sunk disabled:text-soft"
                }
              >
                <Icon name="send" />
              </button>
            ))}
        </div>
      </form>
      <p role="status" className="px-2 text-sm text-wire empty:hidden">
        {waiting && engine === "loading" ? "Your message is sent as soon as the model is ready." : ""}
      </p>
    </>
  );
}

// Some systems know no type for these endings.
const accepted = "image/*,audio/*,video/*,.flac,.opus,.m4a";

function AttachButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <span className="relative">
      <IconButton icon="attach" label="Attach images, recordings or videos" onClick={() => picker.current?.click()} />
      <input
        ref={picker}
        type="file"
        multiple
        accept={accepted}
        aria-label="Images or recordings"
        tabIndex={-1}
        className="sr-only"
        onChange={({ target }) => {
          const files = [...(target.files ?? [])];
          target.value = "";
          onFiles(files);
        }}
      />
    </span>
  );
}
