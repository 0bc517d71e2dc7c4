import { useState } from "react";
import { wholeName } from "../engine/choice";
import { Button } from "../ui/Button";
import { inputLook } from "../ui/Field";
import { bytes } from "../ui/format";
import { Section } from "../ui/Section";
import { catalog, type CatalogEntry } from "./catalog";
import { PlanLine } from "./PlanLine";
import { directAddress, fileNameOf, useStoredModels } from "./storedModels";

export function CatalogSection() {
  return (
    <Section title="From Hugging Face" intro="The published files of Gemma 4. They are fetched once, straight from there, and kept in this browser. The addresses can be changed.">
      <ul className="divide-y divide-line border-y border-line">
        {catalog.map((entry) => <Entry key={entry.url} entry={entry} />)}
      </ul>
    </Section>
  );
}

function Entry({ entry }: { entry: CatalogEntry }) {
  const { models, transfers, download } = useStoredModels();
  const [url, setUrl] = useState(entry.url);
  const [editing, setEditing] = useState(false);
  const file = wholeName(fileNameOf(url));
  const here = transfers.has(file) || models.some(({ name }) => name === file);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3">
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium">{entry.name}</p>
        <p className="text-[0.8125rem] text-soft">{url === entry.url && `${bytes(entry.size)} · `}{entry.about}</p>
        {editing
          ? <input aria-label={`Address of ${entry.name}`} type="url" spellCheck={false} className={`${inputLook} mt-1 font-mono text-xs`} value={url} onChange={({ target }) => setUrl(target.value)} />
          : null}
        <div className="flex flex-wrap items-center gap-x-3">
          <PlanLine key={url} source={directAddress(url)} name={entry.name} />
          {!editing && <Button look="plain" className="-ml-2 !min-h-8 !px-2 !text-[0.8125rem]" aria-label={`Change the address of ${entry.name}`} onClick={() => setEditing(true)}>Change the address</Button>}
        </div>
      </div>
      <Button icon="download" disabled={here || url.trim() === ""} aria-label={`Download ${entry.name}`} onClick={() => void download(url)}>{here ? "Added" : "Download"}</Button>
    </li>
  );
}
