import { useMemo, useState } from "react";
import { CopyButton } from "../../ui/CopyButton";
import { counted } from "../../ui/format";
import { JsonTable } from "./JsonTable";
import { JsonTree } from "./JsonTree";
import { parsePartial } from "./partialJson";
import { scalarText, viewOf } from "./views";

/** An answer in JSON, as far as it has come: a table, a tree, or its text. */
export default function FormedAnswer({ text, live }: { text: string; live: boolean }) {
  const [raw, setRaw] = useState(false);
  const value = useMemo(() => parsePartial(text), [text]);
  const view = viewOf(value);
  if (value === undefined) return <Raw text={text} />;
  if (view === "scalar")
    return (
      <div className="prose whitespace-pre-wrap" dir="auto">
        {scalarText(value)}
      </div>
    );
  return (
    <figure className="rounded-md border border-line" aria-label={view === "table" ? "Table" : "Tree"}>
      <figcaption className="flex items-center justify-between border-b border-line pl-3 font-sans text-xs text-soft">
        <span>{raw ? "JSON" : aboutOf(value)}</span>
        <span className="flex items-center">
          <button
            type="button"
            aria-pressed={raw}
            onClick={() => setRaw(!raw)}
            className="min-h-9 rounded-md px-2.5 hover:bg-sunk hover:text-ink"
          >
            {raw ? `Show as ${view}` : "Show JSON"}
          </button>
          <CopyButton text={live ? text : JSON.stringify(value, null, 2)} label="Copy JSON" />
        </span>
      </figcaption>
      {raw ? (
        <Raw text={live ? text : JSON.stringify(value, null, 2)} />
      ) : view === "table" ? (
        <JsonTable value={value} />
      ) : (
        <JsonTree value={value} />
      )}
    </figure>
  );
}

function Raw({ text }: { text: string }) {
  return (
    <pre
      dir="ltr"
      tabIndex={0}
      aria-label="JSON"
      className="overflow-x-auto p-3 font-mono text-[0.8125rem] leading-relaxed"
    >
      {text}
    </pre>
  );
}

function aboutOf(value: unknown): string {
  if (viewOf(value) !== "table") return Array.isArray(value) ? counted(value.length, "item") : "JSON";
  const [name] = Array.isArray(value) ? [] : Object.keys(value as object);
  return name ?? "Table";
}
