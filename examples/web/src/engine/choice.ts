import type { Source } from "gemwire";
import { nano } from "gemwire/nano";

/** A model that the app can open by itself, as it is kept in the settings. */
export type ModelChoice =
  { kind: "builtin" } | { kind: "stored"; name: string } | { kind: "url"; url: string; name: string };

export const builtin: ModelChoice = { kind: "builtin" };

export function sourceOf(choice: ModelChoice): Source {
  switch (choice.kind) {
    case "builtin":
      return nano;
    case "stored":
      return { opfs: choice.name };
    case "url":
      return choice.url;
  }
}

export function nameOf(choice: ModelChoice): string {
  return choice.kind === "builtin" ? "nano" : choice.name.replace(/\.gguf$/i, "");
}

/** The name of a model of which a part is called so: "a.gguf" of "a-00001-of-00002.gguf". */
export const wholeName = (file: string): string => file.replace(/-\d{5}-of-\d{5}(?=\.gguf$)/i, "");

export function sameChoice(a: ModelChoice, b: ModelChoice): boolean {
  if (a.kind === "builtin" || b.kind === "builtin") return a.kind === b.kind;
  return a.kind === b.kind && a.name === b.name;
}
