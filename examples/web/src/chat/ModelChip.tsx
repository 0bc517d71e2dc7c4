import { useId, useRef } from "react";
import { labelWith } from "../adapters/answering";
import { pageHref } from "../app/route";
import { builtin, nameOf, sameChoice, type ModelChoice } from "../engine/choice";
import { useEngine, type Engine } from "../engine/engineStore";
import { serverInUse } from "../server/answerFrom";
import { hostOf } from "../server/server";
import { useStoredModels } from "../models/storedModels";
import { useSettings } from "../settings/settingsStore";
import { bytes } from "../ui/format";
import { Icon } from "../ui/Icon";
import { useChat } from "./chatStore";

const states: Record<Engine["state"], { text: string; dot: string }> = {
  closed: { text: "no model", dot: "border-soft" },
  loading: { text: "loading", dot: "border-wire bg-wire" },
  ready: { text: "ready", dot: "border-accent bg-accent" },
  failed: { text: "failed", dot: "border-danger" },
};

const onServer = { text: "on a server", dot: "border-wire bg-wire" };

/** The model in use and its state; opens a list of those that are here. */
export function ModelChip() {
  const engine = useEngine((state) => state.engine);
  const server = useSettings(serverInUse);
  const { text, dot } = server ? onServer : states[engine.state];
  const adapters = useChat((state) => state.conversation.options.adapters);
  const label = server
    ? `${server.model} on ${hostOf(server.url)}`
    : engine.state === "closed"
      ? "No model"
      : labelWith(engine.label, adapters);
  const id = useId();
  return (
    <>
      <button
        type="button"
        popoverTarget={id}
        aria-haspopup="dialog"
        title={`Model: ${label}, ${text}`}
        className={
          "flex min-h-9 max-w-[40vw] items-center gap-2 rounded-md px-2.5 text-sm text-soft hover:bg-sunk " +
          "hover:text-ink"
        }
      >
        <span aria-hidden="true" className={`size-2 shrink-0 rotate-45 border-[1.5px] ${dot}`} />
        <span className="truncate">{label}</span>
        <span className="sr-only">, {text}. Change the model.</span>
        <Icon name="down" className="size-3.5 shrink-0" />
      </button>
      <ModelList id={id} />
    </>
  );
}

function ModelList({ id }: { id: string }) {
  const list = useRef<HTMLDivElement>(null);
  const { models, refresh } = useStoredModels();
  const { engine, open } = useEngine();
  const chosen = useSettings((state) => state.model);
  const stored = models.filter(({ complete }) => complete);
  const choices: { choice: ModelChoice; about: string }[] = [
    { choice: builtin, about: "Built in" },
    ...(chosen.kind === "url" ? [{ choice: chosen, about: new URL(chosen.url, location.href).hostname }] : []),
    ...stored.map(({ name, size }) => ({ choice: { kind: "stored" as const, name }, about: bytes(size) })),
  ];
  const remote = useSettings(serverInUse) !== null;
  const isOpen = (choice: ModelChoice) =>
    !remote && engine.state === "ready" && engine.choice !== null && sameChoice(choice, engine.choice);
  const choose = (choice: ModelChoice) => {
    list.current?.hidePopover();
    if (isOpen(choice)) return;
    useSettings.getState().set({ answersFrom: "tab" });
    void open(choice);
  };
  return (
    <div
      ref={list}
      id={id}
      popover="auto"
      role="dialog"
      aria-label="Models on this device"
      onToggle={({ newState }) => {
        if (newState === "open") void refresh();
      }}
      className={
        "inset-auto top-13 right-2 m-0 max-h-[70dvh] w-72 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg " +
        "border border-line bg-raised p-1.5 text-ink shadow-lg"
      }
    >
      <ul>
        {choices.map(({ choice, about }) => (
          <li key={choice.kind === "builtin" ? "" : choice.name}>
            <button
              type="button"
              aria-current={isOpen(choice) ? "true" : undefined}
              onClick={() => choose(choice)}
              className={
                "flex min-h-10 w-full items-center gap-2.5 rounded-md px-2.5 py-1.5 text-left text-sm hover:bg-sunk"
              }
            >
              <span className="min-w-0 flex-1">
                <span className="block font-medium [overflow-wrap:anywhere]">{nameOf(choice)}</span>
                <span className="block text-xs text-soft">{about}</span>
              </span>
              {isOpen(choice) && <Icon name="check" className="size-4 text-accent" />}
            </button>
          </li>
        ))}
      </ul>
      <a
        href={pageHref.models}
        className={
          "mt-1.5 flex min-h-10 items-center border-t border-line px-2.5 pt-1 text-sm text-accent hover:underline"
        }
      >
        More models, and details
      </a>
    </div>
  );
}
