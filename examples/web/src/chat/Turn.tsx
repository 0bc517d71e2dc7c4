import { memo, useRef, type CSSProperties } from "react";
import { Answer } from "./Answer";
import { Plain } from "./markdown/LazyMarkdown";
import type { ChatMessage } from "./message";
import { useNear } from "./nearby";
import { Question } from "./Question";
import type { Prefill } from "./streamAnswer";
import { ToolResult } from "./ToolResult";
import type { Tree } from "./tree";

interface Props {
  message: ChatMessage;
  tree: Tree;
  first: boolean;
  last: boolean;
  /** Among those that are in sight when the chat is opened, which is at its end. */
  atEnd: boolean;
  prefill: Prefill | null;
  busy: boolean;
}

function gemOf({ role, status }: ChatMessage): string {
  if (role === "user") return "gem-user";
  if (status === "streaming") return "gem-live";
  return status === "failed" ? "gem-failed" : role === "tool" ? "" : "gem-answer";
}

const line = { characters: 80, pixels: 27 };
const around = 70;
const attachment = 200;

/** About how high a message will be, in pixels, before it has been laid out. */
function heightOf({ content, attachments = [] }: ChatMessage): number {
  let lines = 0;
  for (const text of content.split("\n")) lines += Math.max(1, Math.ceil(text.length / line.characters));
  return around + lines * line.pixels + attachments.length * attachment;
}

/**
 * One message at its gem on the wire. Far from sight it is its text alone, which the browser finds and reads out, but
 * neither parses nor lays out: a chat may have thousands.
 */
export const Turn = memo(function Turn({ message, tree, first, last, atEnd, prefill, busy }: Props) {
  const item = useRef<HTMLLIElement>(null);
  const live = message.status === "streaming";
  const { near, height } = useNear(item, atEnd);
  const whole = near || live || last;
  const skipped: CSSProperties = {
    contentVisibility: "auto",
    containIntrinsicBlockSize: `auto ${height ?? heightOf(message)}px`,
  };
  return (
    <li
      ref={item}
      className={`wire pb-6 pl-9 sm:pl-11 ${first ? "wire-first" : ""} ${live ? "wire-live" : ""}`}
      style={whole ? undefined : skipped}
      data-role={message.role}
      data-status={message.status}
      data-far={whole ? undefined : ""}
    >
      <span className={`gem ${gemOf(message)}`} aria-hidden="true" />
      {whole ? <Whole message={message} tree={tree} last={last} prefill={prefill} busy={busy} /> : <Far {...message} />}
    </li>
  );
});

function Whole({ message, tree, last, prefill, busy }: Omit<Props, "first" | "atEnd">) {
  switch (message.role) {
    case "user":
      return <Question message={message} tree={tree} busy={busy} />;
    case "assistant":
      return <Answer message={message} tree={tree} prefill={prefill} busy={busy} last={last} />;
    case "tool":
      return <ToolResult message={message} />;
  }
}

function Far({ role, content }: ChatMessage) {
  if (role === "assistant")
    return (
      <article aria-label="Answer">
        <Plain text={content} />
      </article>
    );
  return <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{content}</p>;
}
