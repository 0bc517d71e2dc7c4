import { useState } from "react";
import { wholeName } from "../engine/choice";
import { Button } from "../ui/Button";
import { inputLook } from "../ui/Field";
import { bytes } from "../ui/format";
import { Section } from "../ui/Section";
import { catalog, type CatalogEntry } from "./catalog";
import { PlanLine } from "./PlanLine";
import { directAddress, fileNameOf, useStoredModels } from "./storedModels";
import { useAcquire } from "./useAcquire";

export function CatalogSection() {
  return (
    <Section
      title="From Hugging Face"
      intro="The published files of Gemma 4. Your browser downloads them once and stores them. You can change the URLs."
    >
      <ul className="divide-y divide-line border-y border-line">
        {catalog.map((entry) => (
          <Entry key={entry.url} entry={entry} />
        ))}
      </ul>
    </Section>
  );
}

function Entry({ entry }: { entry: CatalogEntry }) {
  const download = useStoredModels((state) => state.download);
  const [url, setUrl] = useState(entry.url);
  const [editing, setEditing] = useState(false);
  const { free, start, panel } = useAcquire({
    file: wholeName(fileNameOf(url)),
    shown: entry.name,
    source: directAddress(url),
    size: url === entry.url ? entry.size : null,
    begin: (origin) => download(url, { origin }),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3">
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium">{entry.name}</p>
        <p className="text-[0.8125rem] text-soft">
          {url === entry.url && `${bytes(entry.size)} · `}
          {entry.about}
        </p>
        {editing ? (
          <input
            aria-label={`URL of ${entry.name}`}
            type="url"
            spellCheck={false}
            className={`${inputLook} mt-1 font-mono text-xs`}
            value={url}
            onChange={({ target }) => setUrl(target.value)}
          />
        ) : null}
        <div className="flex flex-wrap items-center gap-x-3">
          <PlanLine key={url} source={directAddress(url)} name={entry.name} />
          {!editing && (
            <Button
              look="plain"
              className="-ml-2 !min-h-8 !px-2 !text-[0.8125rem]"
              aria-label={`Change the URL of ${entry.name}`}
              onClick={() => setEditing(true)}
            >
              Change the URL
            </Button>
          )}
        </div>
      </div>
      <Button
        icon="download"
        disabled={!free || url.trim() === ""}
        aria-label={`Download ${entry.name}`}
        onClick={start}
      >
        Download
      </Button>
      {panel}
    </li>
  );
}
