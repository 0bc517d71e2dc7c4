import { labelWith } from "../adapters/answering";
import { pageHref } from "../app/route";
import { useEngine, type Engine } from "../engine/engineStore";
import { useChat } from "./chatStore";

const states: Record<Engine["state"], { text: string; dot: string }> = {
  closed: { text: "no model", dot: "border-soft" },
  loading: { text: "loading", dot: "border-wire bg-wire" },
  ready: { text: "ready", dot: "border-accent bg-accent" },
  failed: { text: "failed", dot: "border-danger" },
};

/** The model in use and its state; leads to the models. */
export function ModelChip() {
  const engine = useEngine((state) => state.engine);
  const { text, dot } = states[engine.state];
  const adapters = useChat((state) => state.conversation.options.adapters);
  const label = engine.state === "closed" ? "No model" : labelWith(engine.label, adapters);
  return (
    <a href={pageHref.models} title={`Model: ${label}, ${text}`} className="flex min-h-9 max-w-[40vw] items-center gap-2 rounded-md px-2.5 text-sm text-soft hover:bg-sunk hover:text-ink">
      <span aria-hidden="true" className={`size-2 shrink-0 rotate-45 border-[1.5px] ${dot}`} />
      <span className="truncate">{label}</span>
      <span className="sr-only">, {text}. Change the model.</span>
    </a>
  );
}
