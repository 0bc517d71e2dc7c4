// What the answers of a chat are held to, as its options keep it.
import { GemwireError, type ResponseFormat } from "gemwire";

export const formKinds = ["free", "json", "schema", "choice", "regex"] as const;

export type FormKind = (typeof formKinds)[number];

/** The texts of the other kinds stay when another one is chosen. */
export interface AnswerForm {
  kind: FormKind;
  /** A JSON schema. */
  schema: string;
  /** One on each line. */
  choices: string;
  regex: string;
}

export const freeForm: AnswerForm = { kind: "free", schema: "", choices: "", regex: "" };

/** answerFormOf knows a form among any values. */
export function answerFormOf(value: unknown): AnswerForm {
  const given = (typeof value === "object" ? (value ?? {}) : {}) as Partial<Record<keyof AnswerForm, unknown>>;
  const text = (key: "schema" | "choices" | "regex") => (typeof given[key] === "string" ? given[key] : "");
  return {
    kind: formKinds.find((kind) => kind === given.kind) ?? "free",
    schema: text("schema"),
    choices: text("choices"),
    regex: text("regex"),
  };
}

/** formatOf is a form as the package takes it; undefined for a free answer. A form that cannot be read is an error. */
export function formatOf({ kind, schema, choices, regex }: AnswerForm): ResponseFormat | undefined {
  switch (kind) {
    case "free":
      return undefined;
    case "json":
      return { type: "json_schema", schema: true };
    case "schema":
      return { type: "json_schema", schema: parseSchema(schema) as Record<string, unknown> };
    case "choice":
      return { type: "choice", choices: linesOf(choices) };
    case "regex":
      if (regex === "") throw new GemwireError("bad-argument", "The regular expression is empty.");
      return { type: "regex", regex };
  }
}

/** Whether answers of this form are JSON. */
export const isJson = ({ kind }: AnswerForm): boolean => kind === "json" || kind === "schema";

function linesOf(text: string): string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new GemwireError("bad-argument", "There are no choices. Write one on each line.");
  return lines;
}

function parseSchema(text: string): unknown {
  if (text.trim() === "") throw new GemwireError("bad-argument", "The schema is empty.");
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new GemwireError("bad-argument", `The schema is not JSON: ${error instanceof Error ? error.message : ""}`);
  }
}
