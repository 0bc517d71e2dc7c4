import { useState } from "react";
import { Button } from "../ui/Button";
import { Field, inputLook } from "../ui/Field";
import { Icon } from "../ui/Icon";
import { useChat } from "./chatStore";
import type { Call, ChatMessage } from "./message";
import type { Tree } from "./tree";

interface Props {
  message: ChatMessage;
  tree: Tree;
  busy: boolean;
  last: boolean;
}

/** Ids of the calls that have a result somewhere below the message. */
function answeredBelow(tree: Tree, message: ChatMessage): Set<string> {
  const answered = new Set<string>();
  const open = [...(tree.children.get(message.id) ?? [])];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const below = tree.byId.get(id);
    if (below?.role !== "tool") continue;
    if (below.callId !== undefined) answered.add(below.callId);
    open.push(...(tree.children.get(id) ?? []));
  }
  return answered;
}

/** The calls of an answer. Those that no tool of the page answers wait for the reader. */
export function ToolCalls({ message, tree, busy }: Props) {
  if (!message.calls?.length) return null;
  const answered = answeredBelow(tree, message);
  return (
    <ul className="mt-1 space-y-3">
      {message.calls.map((call) => (
        <li key={call.id}>
          <p className="flex items-start gap-2 pt-1 text-sm">
            <Icon name="wrench" className="mt-0.5 size-4 text-wire" />
            <span className="min-w-0">
              <span className="text-soft">Calls </span>
              <code className="font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
                {call.name}({argumentsText(call.arguments)})
              </code>
            </span>
          </p>
          {!answered.has(call.id) && message.status !== "streaming" && (
            <ResultForm message={message} call={call} busy={busy} />
          )}
        </li>
      ))}
    </ul>
  );
}

function argumentsText(args: unknown): string {
  if (typeof args !== "object" || args === null) return args === undefined ? "" : JSON.stringify(args);
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(", ");
}

function ResultForm({ message, call, busy }: { message: ChatMessage; call: Call; busy: boolean }) {
  const answerCall = useChat((state) => state.answerCall);
  const [result, setResult] = useState("");
  return (
    <form
      className="mt-2 max-w-md space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        void answerCall(message, call, result);
      }}
    >
      <Field label={`Result of ${call.name}`} help="Text or JSON. This is your own tool, so you enter its result.">
        {(ids) => (
          <input
            {...ids}
            className={`${inputLook} font-mono text-sm`}
            value={result}
            onChange={({ target }) => setResult(target.value)}
          />
        )}
      </Field>
      <Button type="submit" disabled={busy || result.trim() === ""}>
        Send the result
      </Button>
    </form>
  );
}
