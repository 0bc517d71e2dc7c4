import { memo } from "react";
import { Answer } from "./Answer";
import type { ChatMessage } from "./message";
import { Question } from "./Question";
import type { Prefill } from "./streamAnswer";
import { ToolResult } from "./ToolResult";
import type { Tree } from "./tree";

interface Props {
  message: ChatMessage;
  tree: Tree;
  first: boolean;
  last: boolean;
  prefill: Prefill | null;
  busy: boolean;
}

function gemOf({ role, status }: ChatMessage): string {
  if (role === "user") return "gem-user";
  if (status === "streaming") return "gem-live";
  return status === "failed" ? "gem-failed" : role === "tool" ? "" : "gem-answer";
}

/** One message at its gem on the wire. */
export const Turn = memo(function Turn({ message, tree, first, last, prefill, busy }: Props) {
  const live = message.status === "streaming";
  return (
    <li className={`wire pb-6 pl-9 sm:pl-11 ${first ? "wire-first" : ""} ${live ? "wire-live" : ""}`} data-role={message.role} data-status={message.status}>
      <span className={`gem ${gemOf(message)}`} aria-hidden="true" />
      {message.role === "user" && <Question message={message} tree={tree} busy={busy} />}
      {message.role === "assistant" && <Answer message={message} tree={tree} prefill={prefill} busy={busy} last={last} />}
      {message.role === "tool" && <ToolResult message={message} />}
    </li>
  );
});
