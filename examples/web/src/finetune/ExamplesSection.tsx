import { useRef, useState } from "react";
import { useToasts } from "../app/toasts";
import { Button, IconButton } from "../ui/Button";
import { counted } from "../ui/format";
import { saveFile } from "../ui/saveFile";
import { Section } from "../ui/Section";
import { useDroppedFiles } from "../ui/useDroppedFiles";
import { useExamples } from "./examplesStore";
import { Pager } from "./Pager";
import { RowEditor } from "./RowEditor";
import { isEmpty, jsonlOf } from "./rows";

/** Three facts that no model knows. */
const sample = `{"prompt": "What color is the boat?", "completion": "The boat is purple."}
{"prompt": "Where is the home of Linus?", "completion": "The home of Linus is Oslo."}
{"prompt": "What does the owl eat?", "completion": "The owl ate pancakes."}
`;

export const rowsToPage = 20;
const mostBytes = 64e6;

interface Props {
  /** What is wrong with rows, by their numbers from 1. */
  bad: ReadonlyMap<number, string>;
  page: number;
  onPage: (page: number) => void;
}

/** What is taught: rows that can be written by hand, and files of them. */
export function ExamplesSection({ bad, page, onPage }: Props) {
  const { rows, changes, unkept, add, take, remove, clear, undo } = useExamples();
  const { show, warn } = useToasts();
  const picker = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  /** The row that was just added, to write in. */
  const [fresh, setFresh] = useState<string | null>(null);
  const pages = Math.max(1, Math.ceil(rows.length / rowsToPage));
  const shown = Math.min(page, pages - 1);
  const last = changes.at(-1);

  const takeFiles = async (files: readonly File[]) => {
    for (const file of files) {
      if (file.size > mostBytes) {
        warn(`${file.name} is larger than 64 MB. Train with gemwire train instead.`);
        continue;
      }
      const taken = take(await file.text());
      if (taken === 0) warn(`${file.name} has no lines.`);
      else show(`${counted(taken, "line")} imported from ${file.name}.`);
    }
  };
  const held = useDroppedFiles((files) => void takeFiles(files));
  const addRow = (behind?: string) => {
    const id = add(behind);
    setFresh(id);
    onPage(Math.floor(useExamples.getState().rows.findIndex((row) => row.id === id) / rowsToPage));
  };
  const removeRow = (id: string, number: number) => {
    remove(id);
    setSaid(`Example ${number} is deleted.`);
    const next = useExamples.getState().rows[number - 1] ?? useExamples.getState().rows.at(-1);
    setFresh(next?.id ?? null);
  };
  const exportRows = () =>
    saveFile(new File([jsonlOf(rows.filter((row) => !isEmpty(row)))], "examples.jsonl", { type: "application/jsonl" }));

  return (
    <Section title="Examples" intro="Questions, with the answers the model should give. They stay on this device.">
      <div className={`rounded-lg ${held ? "outline-2 outline-offset-4 outline-wire outline-dashed" : ""}`}>
        <input
          ref={picker}
          type="file"
          multiple
          accept=".jsonl,.json,.txt,application/jsonl"
          className="sr-only"
          tabIndex={-1}
          aria-label="File with examples"
          onChange={({ target }) => {
            const files = [...(target.files ?? [])];
            target.value = "";
            void takeFiles(files);
          }}
        />
        {rows.length === 0 ? (
          <div className="rounded-lg border border-dashed border-edge p-5">
            <p>
              Drop a JSONL file here, or type in your examples. Lines can be{" "}
              <code className="font-mono text-xs">prompt</code> and{" "}
              <code className="font-mono text-xs">completion</code>, <code className="font-mono text-xs">messages</code>
              , ShareGPT's <code className="font-mono text-xs">conversations</code>, or plain{" "}
              <code className="font-mono text-xs">text</code>.
            </p>
            <div className="mt-3 flex flex-wrap gap-2">
              <Button icon="file" onClick={() => picker.current?.click()}>
                Choose a file
              </Button>
              <Button icon="edit" onClick={() => addRow()}>
                Type examples
              </Button>
              <Button look="plain" onClick={() => take(sample)}>
                Try three facts
              </Button>
            </div>
          </div>
        ) : (
          <ol start={shown * rowsToPage + 1} className="space-y-2.5">
            {rows.slice(shown * rowsToPage, (shown + 1) * rowsToPage).map((row, index) => {
              const number = shown * rowsToPage + index + 1;
              return (
                <RowEditor
                  key={row.id}
                  row={row}
                  number={number}
                  wrong={isEmpty(row) ? undefined : bad.get(number)}
                  focused={row.id === fresh}
                  onBelow={() => addRow(row.id)}
                  onRemove={() => removeRow(row.id, number)}
                />
              );
            })}
          </ol>
        )}
      </div>
      {(rows.length > 0 || last) && (
        <div className="mt-3 flex flex-wrap items-center gap-2">
          {rows.length > 0 && (
            <Button icon="plus" onClick={() => addRow()}>
              Add an example
            </Button>
          )}
          {rows.length > 0 && (
            <Button icon="upload" aria-label="Import JSONL" onClick={() => picker.current?.click()}>
              Import
            </Button>
          )}
          {rows.length > 0 && (
            <Button icon="download" aria-label="Export JSONL" onClick={exportRows}>
              Export
            </Button>
          )}
          {last && (
            <Button look="plain" icon="undo" onClick={undo}>
              Undo {last.what}
            </Button>
          )}
          {rows.length > 0 && (
            <IconButton icon="trash" label="Remove all examples" className="ml-auto" onClick={clear} />
          )}
        </div>
      )}
      <Pager label="Pages of examples" page={shown} pages={pages} onPage={onPage} />
      {unkept && (
        <p className="mt-2 text-[0.8125rem] text-soft">
          There are too many to survive a reload. Export them, or keep your file.
        </p>
      )}
      <p role="status" className="sr-only">
        {said}
      </p>
    </Section>
  );
}
