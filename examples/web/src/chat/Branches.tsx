import { IconButton } from "../ui/Button";
import { useChat } from "./chatStore";
import type { ChatMessage } from "./message";
import { siblingsOf, type Tree } from "./tree";

interface Props {
  message: ChatMessage;
  tree: Tree;
  busy: boolean;
  of: "question" | "answer";
}

/** Goes from one branch to the next, where there are several. */
export function Branches({ message, tree, busy, of }: Props) {
  const step = useChat((state) => state.step);
  const { ids, index } = siblingsOf(tree, message);
  if (ids.length < 2) return null;
  return (
    <span
      role="group"
      aria-label={`Versions of this ${of}`}
      className="inline-flex items-center text-[0.8125rem] tabular-nums"
    >
      <IconButton
        small
        icon="left"
        label={`Previous ${of}`}
        disabled={busy || index === 0}
        onClick={() => void step(message, -1)}
      />
      <span aria-label={`${index + 1} of ${ids.length}`} role="img">
        {index + 1}/{ids.length}
      </span>
      <IconButton
        small
        icon="right"
        label={`Next ${of}`}
        disabled={busy || index === ids.length - 1}
        onClick={() => void step(message, 1)}
      />
    </span>
  );
}
