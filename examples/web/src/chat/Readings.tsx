import { useMemo } from "react";
import { serverInUse } from "../server/answerFrom";
import { useSettings } from "../settings/settingsStore";
import { count, tokensPerSecond } from "../ui/format";
import { useChat } from "./chatStore";
import { isFull, type ContextRoom } from "./contextRoom";
import { pathTo } from "./tree";

/** Speed of the last answer, and how much of the context the next request takes. */
export function Readings({ room }: { room: ContextRoom | null }) {
  const { tree, conversation, run } = useChat();
  const remote = useSettings(serverInUse) !== null;
  const usage = useMemo(
    () => pathTo(tree, conversation.leafId).findLast((message) => message.usage)?.usage,
    [tree, conversation.leafId],
  );
  return (
    <div className="flex min-h-7 items-center justify-between gap-3 px-2 pt-1 text-xs text-soft tabular-nums">
      <span className="truncate">
        {run ? (
          <>
            <span className="pointer-coarse:hidden">Esc stops</span>
            <span className="hidden pointer-coarse:inline">Answering…</span>
          </>
        ) : usage && usage.tokensPerSecond > 0 ? (
          tokensPerSecond(usage.tokensPerSecond)
        ) : remote ? (
          "Is sent to the server."
        ) : (
          "Stays on this device."
        )}
      </span>
      {room && (
        <span
          className="flex shrink-0 items-center gap-2"
          title="Tokens of the context that this chat takes, with its system prompt and your message"
        >
          <span aria-hidden="true" className="bar hidden w-16 sm:block">
            <span
              style={{
                width: `${Math.min(100, (room.used / room.context) * 100)}%`,
                background: isFull(room) ? "var(--danger)" : "var(--accent)",
              }}
            />
          </span>
          {count(room.used)} of {count(room.context)} tokens
        </span>
      )}
    </div>
  );
}
