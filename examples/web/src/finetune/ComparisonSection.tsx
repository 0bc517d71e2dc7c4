import { useState } from "react";
import { useAdapters } from "../adapters/adaptersStore";
import { endingOf } from "../chat/ending";
import { Markdown } from "../chat/markdown/Markdown";
import type { ChatMessage } from "../chat/message";
import { useEngine } from "../engine/engineStore";
import { Button } from "../ui/Button";
import { Check, Field, inputLook } from "../ui/Field";
import { Section } from "../ui/Section";
import { useComparison } from "./comparisonStore";
import { useRun } from "./runStore";

/** The same question to the model as it is, and with an adapter. */
export function ComparisonSection() {
  const adapters = useAdapters((state) => state.adapters);
  const engine = useEngine((state) => state.engine);
  const { exchanges, busy, ask, stop, clear } = useComparison();
  const training = useRun(({ run }) => run.state === "running");
  const [chosen, setChosen] = useState<string | null>(null);
  const [question, setQuestion] = useState("");
  const [goOn, setGoOn] = useState(false);
  const adapter = adapters.find(({ name }) => name === chosen)?.name ?? adapters[0]?.name;
  if (adapter === undefined && exchanges.length === 0) return null;
  const ready = engine.state === "ready" && adapter !== undefined && !busy && question.trim() !== "";

  const send = () => {
    if (!ready) return;
    setQuestion("");
    void ask(question.trim(), adapter, goOn);
  };
  return (
    <Section
      title="Side by side"
      intro={
        "Ask the model the same question with and without an adapter. Both always choose the most likely token, so " +
        "only the adapter makes a difference."
      }
    >
      {exchanges.length > 0 && (
        <ol aria-label="Compared answers" className="mb-4 space-y-5">
          {exchanges.map(({ id, question: asked, base, adapted }) => (
            <li key={id} className="space-y-2">
              <p className="font-medium [overflow-wrap:anywhere] whitespace-pre-wrap">{asked}</p>
              <div className="grid gap-2 sm:grid-cols-2">
                <Side message={base} waiting={false} />
                <Side message={adapted} waiting={base.status === "streaming"} adapted />
              </div>
            </li>
          ))}
        </ol>
      )}
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <div className="flex flex-wrap items-end gap-2">
          <div className="min-w-0 flex-1 basis-64">
            <Field label="Question for both">
              {(ids) => (
                <input
                  {...ids}
                  className={inputLook}
                  value={question}
                  onChange={({ target }) => setQuestion(target.value)}
                />
              )}
            </Field>
          </div>
          <div className="min-w-0 basis-44">
            <Field label="Adapter">
              {(ids) => (
                <select
                  {...ids}
                  className={inputLook}
                  value={adapter ?? ""}
                  onChange={({ target }) => setChosen(target.value)}
                >
                  {adapters.map(({ name }) => (
                    <option key={name} value={name}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </div>
          {busy ? (
            <Button className="!min-h-10" icon="stop" onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button look="solid" type="submit" className="!min-h-10" disabled={!ready}>
              Ask both
            </Button>
          )}
        </div>
        <div className="flex flex-wrap items-center gap-x-5">
          <Check
            label="Continue the conversation"
            help="Otherwise each question starts a new one."
            checked={goOn}
            onChange={setGoOn}
          />
          {exchanges.length > 0 && !busy && (
            <Button look="plain" onClick={clear}>
              Clear
            </Button>
          )}
        </div>
        {training && <p className="text-[0.8125rem] text-soft">Training is running, so answers take longer.</p>}
      </form>
    </Section>
  );
}

function Side({ message, waiting, adapted = false }: { message: ChatMessage; waiting: boolean; adapted?: boolean }) {
  const label = message.model ?? "";
  const streaming = message.status === "streaming";
  const ending = endingOf(message);
  return (
    <article
      aria-label={`Answer of ${label}`}
      aria-busy={streaming}
      data-status={message.status}
      className={`min-w-0 rounded-lg border bg-raised p-3 ${adapted ? "border-accent" : "border-line"}`}
    >
      <p className="pb-1.5 text-xs text-soft [overflow-wrap:anywhere]">{label}</p>
      {message.content !== "" && (
        <div tabIndex={0} role="group" aria-label="Its answer" className="max-h-80 overflow-y-auto">
          <Markdown text={message.content} />
        </div>
      )}
      {streaming && message.content === "" && (
        <p className="text-sm text-wire">{waiting ? "Waiting for the other…" : "Reading the question…"}</p>
      )}
      {message.error !== undefined && (
        <p role="alert" className="text-sm text-danger">
          {message.error}
        </p>
      )}
      {ending !== undefined && <p className="text-sm text-soft italic">{ending}</p>}
    </article>
  );
}
