import { adapters as kept } from "gemwire";
import { useRef, useState } from "react";
import { useToasts } from "../app/toasts";
import { useChat } from "../chat/chatStore";
import { failureOf } from "../engine/failure";
import { Button } from "../ui/Button";
import { Section } from "../ui/Section";
import { AdapterRow } from "./AdapterRow";
import { useAdapters } from "./adaptersStore";
import { unzipped, zipped } from "./archive";
import { saveFile } from "../ui/saveFile";

/** How long a deleted adapter can be brought back, in milliseconds: as long as the message that offers it. */
const undoFor = 12_500;

/** All adapters on this device. */
export function AdaptersSection() {
  const { adapters, failure, take, remove, restore, purge } = useAdapters();
  const show = useToasts((state) => state.show);
  const begin = useChat((state) => state.begin);
  const picker = useRef<HTMLInputElement>(null);
  const [refused, setRefused] = useState("");

  const attempt = async (work: () => Promise<void>) => {
    setRefused("");
    try {
      await work();
    } catch (error) {
      const { sentence, advice, code } = failureOf(error);
      setRefused(code === "internal" ? sentence : `${sentence} ${advice}`);
    }
  };
  const importFiles = (chosen: readonly File[]) =>
    attempt(async () => {
      const files = (await Promise.all(chosen.map(unzipped))).flat();
      const name = await take(files, nameOf(chosen));
      show(`“${name}” is here.`);
    });
  const exportAs = (name: string, format: "peft" | "gguf") =>
    attempt(async () => {
      const files = await kept.export(name, { format });
      const [single] = files;
      saveFile(single && files.length === 1 ? single : await zipped(files, name));
    });
  const deleteOne = (name: string) => {
    remove(name);
    setTimeout(() => void purge(name), undoFor);
    show(`“${name}” is deleted.`, { label: "Undo", run: () => restore(name) });
  };

  return (
    <Section
      title="Your adapters"
      intro="They are stored in this browser. Export them as PEFT or llama.cpp files; you can import both again."
    >
      {failure && (
        <p role="alert" className="mb-3 text-sm text-danger">
          {failure.sentence} {failure.advice}
        </p>
      )}
      {adapters.length === 0 ? (
        <p className="text-sm text-soft">None yet.</p>
      ) : (
        <ul aria-label="Adapters" className="divide-y divide-line border-y border-line">
          {adapters.map((adapter) => (
            <AdapterRow
              key={adapter.name}
              adapter={adapter}
              onChat={() => begin({ adapters: [{ name: adapter.name, weight: 1 }] })}
              onExport={(format) => void exportAs(adapter.name, format)}
              onDelete={() => deleteOne(adapter.name)}
              onRefused={setRefused}
            />
          ))}
        </ul>
      )}
      {refused !== "" && (
        <p role="alert" className="mt-3 text-sm text-danger">
          {refused}
        </p>
      )}
      <input
        ref={picker}
        type="file"
        multiple
        accept=".zip,.safetensors,.json,.gguf"
        className="sr-only"
        tabIndex={-1}
        aria-label="Files of an adapter"
        onChange={({ target }) => {
          const files = [...(target.files ?? [])];
          target.value = "";
          if (files.length > 0) void importFiles(files);
        }}
      />
      <div className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button icon="upload" onClick={() => picker.current?.click()}>
          Import an adapter
        </Button>
        <span className="text-[0.8125rem] text-soft">
          adapter_config.json and adapter_model.safetensors, or a .zip with both, or a .gguf file.
        </span>
      </div>
    </Section>
  );
}

/** What imported files are called: PEFT's own names say nothing. */
function nameOf(files: readonly File[]): string {
  const telling = files
    .map(({ name }) => name.replace(/\.[^.]+$/, ""))
    .find((name) => !/^adapter_(config|model)$/.test(name));
  return telling ?? "Imported";
}
