import { useState, type ComponentProps } from "react";
import { chatHref } from "../app/route";
import { useChat } from "../chat/chatStore";
import type { Conversation } from "../chat/message";
import { IconButton } from "../ui/Button";
import { when } from "../ui/format";
import { isComposing } from "../ui/keys";
import type { Hit } from "./api";
import { Snippet } from "./Snippet";

interface Props {
  /** Where the row lies in the list, and what the list has to know of it. */
  place: ComponentProps<"li"> & { "data-index": number };
  conversation: Conversation;
  hit: Hit | null;
  open: boolean;
  running: boolean;
  onDelete: (conversation: Conversation) => Promise<void>;
}

export function HistoryItem({ place, conversation, hit, open, running, onDelete }: Props) {
  const [renaming, setRenaming] = useState(false);
  const rename = useChat((state) => state.rename);
  const { id, title, updatedAt } = conversation;

  if (renaming) {
    return (
      <li {...place}>
        <input
          autoFocus
          aria-label="Title of the chat"
          defaultValue={title}
          dir="auto"
          className="my-0.5 min-h-10 w-full rounded-md border border-line bg-paper px-2.5 text-sm"
          onFocus={({ target }) => target.select()}
          onBlur={({ target }) => {
            setRenaming(false);
            void rename(id, target.value);
          }}
          onKeyDown={(event) => {
            if (isComposing(event.nativeEvent)) return;
            if (event.key === "Enter") event.currentTarget.blur();
            if (event.key !== "Escape") return;
            event.preventDefault();
            event.currentTarget.value = title;
            event.currentTarget.blur();
          }}
        />
      </li>
    );
  }
  return (
    <li {...place} className={`group relative rounded-md ${open ? "bg-paper" : "hover:bg-paper/60"}`}>
      <a
        href={chatHref(id)}
        aria-current={open ? "page" : undefined}
        className={
          "block rounded-md py-1.5 pr-2.5 pl-2.5 group-focus-within:pr-18 group-hover:pr-18 pointer-coarse:pr-24"
        }
      >
        <span dir="auto" className="block truncate text-sm leading-snug">
          {title}
        </span>
        {hit ? (
          <Snippet text={hit.snippet} />
        ) : (
          <span className={`block text-xs ${running ? "text-wire" : "text-soft"}`}>
            {running ? "Answering…" : when(updatedAt)}
          </span>
        )}
      </a>
      <span
        className={
          "absolute top-1.5 right-1 flex pointer-coarse:top-0.5 opacity-0 transition-opacity " +
          "group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100"
        }
      >
        <IconButton small icon="edit" label={`Rename ${title}`} onClick={() => setRenaming(true)} />
        <IconButton small icon="trash" label={`Delete ${title}`} onClick={() => void onDelete(conversation)} />
      </span>
    </li>
  );
}
