import type { Tool as Declaration } from "gemwire";

/** A function of the page that a model may call. It never leaves the machine. */
export interface PageTool {
  name: string;
  label: string;
  declaration: Declaration;
  run: (args: unknown) => string;
}

export function argument(args: unknown, name: string): string {
  const value = typeof args === "object" && args !== null ? (args as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
