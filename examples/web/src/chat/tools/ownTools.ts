import type { Tool } from "gemwire";

const maxTools = 32;

/** parseOwnTools reads declarations in OpenAI's form (a list, or one), or throws an Error that says what is wrong. */
export function parseOwnTools(text: string): Tool[] {
  if (text.trim() === "") return [];
  const value: unknown = JSON.parse(text);
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > maxTools) throw new Error(`At most ${maxTools} tools.`);
  return list.map(toolFrom);
}

function toolFrom(value: unknown): Tool {
  const outer = record(value);
  const inner = record(outer.function ?? outer);
  const { name, description, parameters } = inner;
  if (typeof name !== "string" || !/^[A-Za-z_][\w.-]{0,63}$/.test(name))
    throw new Error("Each tool needs a name of letters, digits and _.");
  return {
    type: "function",
    function: {
      name,
      ...(typeof description === "string" ? { description } : {}),
      parameters: parameters === undefined ? { type: "object", properties: {} } : record(parameters),
    },
  };
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("A tool is an object with a name and parameters.");
  return value as Record<string, unknown>;
}
