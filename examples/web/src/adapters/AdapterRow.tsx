import { useState } from "react";
import { useChat } from "../chat/chatStore";
import { failureOf } from "../engine/failure";
import { lossLabel } from "../finetune/plot";
import { Button, IconButton } from "../ui/Button";
import { inputLook } from "../ui/Field";
import { bytes, when } from "../ui/format";
import { isComposing } from "../ui/keys";
import { nameFrom, useAdapters, type Adapter } from "./adaptersStore";

interface Props {
  adapter: Adapter;
  onChat: () => void;
  onExport: (format: "peft" | "gguf") => void;
  onDelete: () => void;
  onRefused: (sentence: string) => void;
}

/** One adapter: what is known of it, and what can be done with it. */
export function AdapterRow({ adapter, onChat, onExport, onDelete, onRefused }: Props) {
  const [renaming, setRenaming] = useState(false);
  const { name, base, loss, heldOutLoss, size, modified } = adapter;
  const facts = [
    base === null ? "for a model that gemwire does not know yet" : `for ${base}`,
    bytes(size),
    when(modified),
    ...(loss === null ? [] : [`loss ${lossLabel(loss)}`]),
    ...(heldOutLoss === null ? [] : [`held out ${lossLabel(heldOutLoss)}`]),
  ];
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 py-3">
      <div className="min-w-0 flex-1 basis-60">
        {renaming ? (
          <Renaming name={name} onEnd={() => setRenaming(false)} onRefused={onRefused} />
        ) : (
          <p className="font-medium [overflow-wrap:anywhere]">{name}</p>
        )}
        <p className="text-[0.8125rem] text-soft tabular-nums">{facts.join(" · ")}</p>
      </div>
      <div className="-ml-2 flex flex-wrap items-center gap-1 sm:ml-0">
        <Button aria-label={`Chat with ${name}`} className="max-sm:ml-2" onClick={onChat}>
          Chat
        </Button>
        <Button
          look="plain"
          icon="download"
          aria-label={`Export ${name} as PEFT's files`}
          onClick={() => onExport("peft")}
        >
          PEFT
        </Button>
        <Button look="plain" icon="download" aria-label={`Export ${name} as GGUF`} onClick={() => onExport("gguf")}>
          GGUF
        </Button>
        <IconButton icon="edit" label={`Rename ${name}`} onClick={() => setRenaming(true)} />
        <IconButton icon="trash" label={`Delete ${name}`} onClick={onDelete} />
      </div>
    </li>
  );
}

function Renaming({
  name,
  onEnd,
  onRefused,
}: {
  name: string;
  onEnd: () => void;
  onRefused: (sentence: string) => void;
}) {
  const { stored, rename } = useAdapters();
  const renameInChats = useChat((state) => state.renameAdapter);
  const end = async (typed: string) => {
    const to = nameFrom(typed);
    onRefused("");
    if (typed.trim() !== "" && to !== name) {
      if (stored.some((one) => one.name === to)) onRefused(`There is an adapter called “${to}” already.`);
      else
        await rename(name, to).then(
          () => renameInChats(name, to),
          (error: unknown) => onRefused(failureOf(error).sentence),
        );
    }
    onEnd();
  };
  return (
    <input
      autoFocus
      aria-label="Name of the adapter"
      defaultValue={name}
      maxLength={60}
      className={`${inputLook} max-w-80`}
      onFocus={({ target }) => target.select()}
      onBlur={({ target }) => void end(target.value)}
      onKeyDown={(event) => {
        if (isComposing(event.nativeEvent)) return;
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.currentTarget.value = name;
        event.currentTarget.blur();
      }}
    />
  );
}
