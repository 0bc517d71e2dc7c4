import { useRef, useState, type DragEvent } from "react";
import { goTo, pageHref } from "../app/route";
import { wholeName } from "../engine/choice";
import { useEngine } from "../engine/engineStore";
import { Button } from "../ui/Button";
import { Field, inputLook } from "../ui/Field";
import { bytes } from "../ui/format";
import { Section } from "../ui/Section";
import { PlanLine } from "./PlanLine";
import { startModel } from "./startModel";
import { directAddress, fileNameOf, useStoredModels } from "./storedModels";
import { useAcquire } from "./useAcquire";

/** Any other GGUF file: by its address or from the disk. */
export function OwnSection() {
  return (
    <Section title="A file of your own" intro="Any Gemma 4 model as a GGUF file.">
      <ByAddress />
      <FromDisk />
    </Section>
  );
}

const isAddress = (text: string) => /^https?:\/\/\S+$/.test(text.trim());

function ByAddress() {
  const download = useStoredModels((state) => state.download);
  const [url, setUrl] = useState("");
  const valid = isAddress(url);
  const { free, start, panel } = useAcquire({
    file: wholeName(fileNameOf(directAddress(url))),
    shown: fileNameOf(url),
    source: directAddress(url),
    size: null,
    begin: (origin) => download(url, { origin }),
  });
  return (
    <form
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (valid && free) start();
      }}
    >
      <Field label="Address">
        {(ids) => (
          <input
            {...ids}
            type="url"
            spellCheck={false}
            placeholder="https://…/model.gguf"
            className={inputLook}
            value={url}
            onChange={({ target }) => setUrl(target.value)}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" icon="download" disabled={!valid || !free}>
          Download and keep
        </Button>
        <Button
          disabled={!valid}
          onClick={() => startModel({ kind: "url", url: directAddress(url), name: fileNameOf(url) })}
        >
          Use without keeping
        </Button>
        {valid && <PlanLine key={url} source={directAddress(url)} name={fileNameOf(url)} />}
        {panel}
      </div>
    </form>
  );
}

/** One file, or all files that a model is split into. */
function FromDisk() {
  const picker = useRef<HTMLInputElement>(null);
  const importFiles = useStoredModels((state) => state.importFiles);
  const openFiles = useEngine((state) => state.openFiles);
  const [files, setFiles] = useState<File[]>([]);
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    setFiles([...event.dataTransfer.files]);
  };
  const [file] = files;
  const size = files.reduce((sum, one) => sum + one.size, 0);
  const { free, start, panel } = useAcquire({
    file: wholeName(file?.name ?? ""),
    shown: file?.name ?? "",
    source: files,
    size,
    begin: (origin) => importFiles(files, { origin }),
  });
  const label = file && (files.length > 1 ? `${file.name} and ${files.length - 1} more` : file.name);
  return (
    <div
      className={`mt-5 rounded-lg border border-dashed p-4 ${over ? "border-wire bg-tint" : "border-line"}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <input
        ref={picker}
        type="file"
        accept=".gguf"
        multiple
        className="sr-only"
        aria-label="GGUF file"
        tabIndex={-1}
        onChange={({ target }) => setFiles([...(target.files ?? [])])}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button icon="file" onClick={() => picker.current?.click()}>
          Choose a file
        </Button>
        <span className="text-sm text-soft">
          {label ? `${label}, ${bytes(size)}` : "or drop one here. For a split model, drop all its files."}
        </span>
      </div>
      {file && (
        <div className="mt-3 space-y-2">
          <PlanLine key={label} source={files} name={file.name} />
          <div className="flex flex-wrap gap-2">
            <Button
              look="solid"
              onClick={() => {
                void openFiles(files);
                goTo(pageHref.chat);
              }}
            >
              Use from the disk
            </Button>
            <Button disabled={!free} onClick={start}>
              Copy into the browser
            </Button>
            {panel}
          </div>
          <p className="text-[0.8125rem] text-soft">
            From disk, you choose the file again after each reload. A copy in the browser stays.
          </p>
        </div>
      )}
    </div>
  );
}
