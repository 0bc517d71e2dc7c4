import type { ChatMessage } from "./message";

export function ToolResult({ message }: { message: ChatMessage }) {
  return (
    <article aria-label={`Result of ${message.toolName ?? "a tool"}`} className="pt-1 text-sm">
      <span className="text-soft">{message.toolName} gave </span>
      <code className="font-mono text-[0.8125rem] [overflow-wrap:anywhere] whitespace-pre-wrap">{message.content}</code>
    </article>
  );
}
