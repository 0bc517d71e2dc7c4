import { useId, useRef, useState } from "react";
import { Button } from "../../ui/Button";
import { serverInUse } from "../../server/answerFrom";
import { hostOf } from "../../server/server";
import { useSettings } from "../../settings/settingsStore";
import { Choices } from "../../ui/Choices";
import { Field, inputLook } from "../../ui/Field";
import type { AnswerForm, FormKind } from "./answerForm";
import { useFormCheck, type Fault } from "./useFormCheck";

const kinds: readonly { value: FormKind; label: string }[] = [
  { value: "free", label: "Free text" },
  { value: "json", label: "Any JSON" },
  { value: "schema", label: "JSON schema" },
  { value: "choice", label: "Choice" },
  { value: "regex", label: "Regular expression" },
];

/** Schemas are written by people; a file beyond this is something else. */
const largestFile = 1_000_000;

const exampleSchema = `{
  "type": "array",
  "items": {
    "type": "object",
    "properties": { "name": { "type": "string" }, "year": { "type": "integer" } },
    "required": ["name", "year"]
  }
}`;

/** What the answers of a chat are held to. */
export function FormFields({ form, onChange }: { form: AnswerForm; onChange: (form: AnswerForm) => void }) {
  // What is typed is shown at once, also while the chat's options are written down.
  const [typed, setTyped] = useState(form);
  const fault = useFormCheck(typed);
  const server = useSettings(serverInUse);
  const change = (changed: Partial<AnswerForm>) => {
    const next = { ...typed, ...changed };
    setTyped(next);
    onChange(next);
  };
  return (
    <section aria-label="Form of the answers" className="space-y-3">
      <h3 className="font-semibold">Form of the answers</h3>
      <Choices label="Form of the answers" choices={kinds} value={typed.kind} onChange={(kind) => change({ kind })} />
      {typed.kind === "json" && <About text="Every answer is JSON, and is shown as a table or a tree." />}
      {typed.kind === "schema" && (
        <SchemaField text={typed.schema} fault={fault} onChange={(schema) => change({ schema })} />
      )}
      {typed.kind === "choice" && (
        <TextField
          label="Choices"
          help="One on each line. An answer is one of them."
          placeholder={"yes\nno"}
          text={typed.choices}
          fault={fault}
          onChange={(choices) => change({ choices })}
        />
      )}
      {typed.kind === "regex" && (
        <TextField
          label="Regular expression"
          help="The whole answer matches it. The syntax is RE2's, without slashes around it."
          placeholder="[A-Z][a-z]+ is the capital of [A-Z][a-z]+\."
          text={typed.regex}
          fault={fault}
          onChange={(regex) => change({ regex })}
        />
      )}
      {typed.kind !== "free" && <About text="With a form, the model calls no tools. Its thoughts stay free." />}
      {typed.kind !== "free" && server && (
        <About
          text={`${hostOf(server.url)} looks at the form when you ask. ${
            typed.kind === "choice" || typed.kind === "regex"
              ? "Servers other than gemwire's may refuse it."
              : "Some servers know a part of JSON Schema only."
          }`}
        />
      )}
    </section>
  );
}

const About = ({ text }: { text: string }) => <p className="text-[0.8125rem] text-soft">{text}</p>;

interface TextProps {
  label: string;
  help: string;
  placeholder: string;
  text: string;
  fault: Fault | null;
  rows?: number;
  onChange: (text: string) => void;
}

function TextField({ label, help, placeholder, text, fault, rows = 3, onChange }: TextProps) {
  const faultId = useId();
  return (
    <Field label={label} help={help}>
      {(ids) => (
        <>
          <textarea
            {...ids}
            rows={rows}
            spellCheck={false}
            aria-invalid={fault !== null}
            aria-errormessage={fault ? faultId : undefined}
            className={`${inputLook} font-mono text-xs`}
            value={text}
            placeholder={placeholder}
            onChange={({ target }) => onChange(target.value)}
          />
          {fault && <FaultText id={faultId} fault={fault} />}
        </>
      )}
    </Field>
  );
}

function FaultText({ id, fault: { sentence, place, line } }: { id: string; fault: Fault }) {
  return (
    <p id={id} role="status" className="text-[0.8125rem] text-danger">
      {line !== null && `Line ${line}: `}
      {place !== "" && (
        <>
          <code className="font-mono text-xs [overflow-wrap:anywhere]">{place}</code>{" "}
        </>
      )}
      {sentence}
    </p>
  );
}

function SchemaField({
  text,
  fault,
  onChange,
}: {
  text: string;
  fault: Fault | null;
  onChange: (text: string) => void;
}) {
  const picker = useRef<HTMLInputElement>(null);
  const [refused, setRefused] = useState("");
  const take = async (file: File) => {
    if (file.size > largestFile) {
      setRefused(`${file.name} is too large to be a schema.`);
      return;
    }
    setRefused("");
    onChange(await file.text());
  };
  return (
    <>
      <TextField
        label="Schema"
        help="Answers always fit it. What cannot be kept is refused, with its place."
        placeholder={exampleSchema}
        text={text}
        fault={text === "" ? null : fault}
        rows={8}
        onChange={onChange}
      />
      <Button onClick={() => picker.current?.click()}>From a file…</Button>
      <input
        ref={picker}
        type="file"
        accept=".json,application/json,application/schema+json"
        aria-label="File with a schema"
        tabIndex={-1}
        className="sr-only"
        onChange={({ target }) => {
          const file = target.files?.[0];
          target.value = "";
          if (file) void take(file);
        }}
      />
      {refused && (
        <p role="alert" className="text-[0.8125rem] text-danger">
          {refused}
        </p>
      )}
    </>
  );
}
