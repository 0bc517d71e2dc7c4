import { IconButton } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { count, counted, tokensPerSecond } from "../ui/format";
import { Progress } from "../ui/Progress";
import { Branches } from "./Branches";
import { useChat } from "./chatStore";
import { endingOf } from "./ending";
import { LazyFormedAnswer } from "./form/LazyFormedAnswer";
import { LazyMarkdown } from "./markdown/LazyMarkdown";
import type { ChatMessage } from "./message";
import type { Prefill } from "./streamAnswer";
import { Thinking } from "./Thinking";
import { ToolCalls } from "./ToolCalls";
import type { Tree } from "./tree";

interface Props {
  message: ChatMessage;
  tree: Tree;
  prefill: Prefill | null;
  busy: boolean;
  last: boolean;
}

export function Answer({ message, tree, prefill, busy, last }: Props) {
  const streaming = message.status === "streaming";
  const ending = endingOf(message);
  return (
    <article aria-label="Answer" aria-busy={streaming}>
      {message.forgotten && (
        <p className="mb-2 border-b border-line pb-2 text-xs text-soft">
          The context is full: the model was asked without the oldest {count(message.forgotten.messages)} messages. It
          knew the other {count(message.forgotten.known)}.
        </p>
      )}
      {message.thinking && <Thinking text={message.thinking} live={streaming && message.content === ""} />}
      {streaming && message.content === "" && !message.thinking && <Waiting prefill={prefill} />}
      {message.content !== "" &&
        (message.json ? (
          <LazyFormedAnswer text={message.content} live={streaming} />
        ) : (
          <LazyMarkdown text={message.content} />
        ))}
      <ToolCalls message={message} tree={tree} busy={busy} last={last} />
      {message.mended && <p className="mt-2 text-sm text-soft">Mended in a tool call: {message.mended.join(", ")}.</p>}
      {message.malformed?.map((text, index) => (
        <p key={index} className="mt-2 text-sm text-soft">
          A tool call that could not be parsed: <code className="font-mono text-xs">{text}</code>
        </p>
      ))}
      {message.error !== undefined && (
        <p role="alert" className="mt-2 text-sm text-danger">
          {message.error}
        </p>
      )}
      {ending !== undefined && <p className="mt-2 text-sm text-soft italic">{ending}</p>}
      {!streaming && <Footer message={message} tree={tree} busy={busy} />}
    </article>
  );
}

function waitingFor(prefill: Prefill | null): string {
  if (prefill?.of === "image") return "Looking at the image";
  if (prefill?.of === "audio") return "Listening to the recording";
  if (prefill?.of === "video") return "Watching the video";
  return prefill && prefill.total > 1
    ? `Reading ${count(prefill.done)} of ${count(prefill.total)} tokens`
    : "Reading the question";
}

function Waiting({ prefill }: { prefill: Prefill | null }) {
  const label = waitingFor(prefill);
  return (
    <div className="max-w-56 pt-1.5">
      <p className="pb-2 text-sm text-wire">{label}…</p>
      <Progress label={label} done={prefill?.done ?? 0} total={prefill?.total ?? 0} />
    </div>
  );
}

function Footer({ message, tree, busy }: { message: ChatMessage; tree: Tree; busy: boolean }) {
  const regenerate = useChat((state) => state.regenerate);
  const { usage, model } = message;
  return (
    <div className="mt-1.5 -ml-2 flex flex-wrap items-center text-soft">
      {message.content !== "" && <CopyButton text={message.content} label="Copy the answer" />}
      <IconButton small icon="retry" label="Answer again" disabled={busy} onClick={() => void regenerate(message)} />
      <Branches message={message} tree={tree} busy={busy} of="answer" />
      <span className="ml-2 text-xs tabular-nums">
        {[
          model,
          usage && usage.answerTokens > 0 && counted(usage.answerTokens, "token"),
          usage && usage.answerTokens > 0 && usage.tokensPerSecond > 0 && tokensPerSecond(usage.tokensPerSecond),
        ]
          .filter(Boolean)
          .join(" · ")}
      </span>
    </div>
  );
}
