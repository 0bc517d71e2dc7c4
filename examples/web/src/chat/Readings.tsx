import { useMemo } from "react";
import { useEngine } from "../engine/engineStore";
import { count, tokensPerSecond } from "../ui/format";
import { useChat } from "./chatStore";
import { pathTo } from "./tree";

/** Speed of the last answer, and how much of the context the open branch fills. */
export function Readings() {
  const { tree, conversation, run } = useChat();
  const engine = useEngine((state) => state.engine);
  const usage = useMemo(() => pathTo(tree, conversation.leafId).findLast((message) => message.usage)?.usage, [tree, conversation.leafId]);
  const context = engine.state === "ready" ? engine.model.info.context : 0;
  const used = usage ? usage.promptTokens + usage.answerTokens : 0;
  const share = context > 0 ? Math.min(1, used / context) : 0;
  return (
    <div className="flex min-h-7 items-center justify-between gap-3 px-2 pt-1 text-xs text-soft tabular-nums">
      <span className="truncate">{run ? <><span className="pointer-coarse:hidden">Esc stops</span><span className="hidden pointer-coarse:inline">Answering…</span></> : usage && usage.tokensPerSecond > 0 ? tokensPerSecond(usage.tokensPerSecond) : "Stays on this device."}</span>
      {context > 0 && (
        <span className="flex shrink-0 items-center gap-2" title="Tokens of the context that this chat uses">
          <span aria-hidden="true" className="bar hidden w-16 sm:block"><span style={{ width: `${share * 100}%`, background: share > 0.85 ? "var(--danger)" : "var(--accent)" }} /></span>
          {count(used)} of {count(context)} tokens
        </span>
      )}
    </div>
  );
}
