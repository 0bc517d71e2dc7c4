import { GemwireError } from "./error.js";
import { checkNames } from "./names.js";
import type { Form } from "./protocol.js";
import type { ResponseFormat, SchemaSource } from "./types.js";

// What libraries of schemas have to make a JSON schema of one, by any of these names.
interface Convertible {
  "~standard"?: {
    vendor?: string;
    jsonSchema?: { input?: (options: { target: string }) => Record<string, unknown> };
  };
  toJSONSchema?: (options?: object) => Record<string, unknown>;
  toJsonSchema?: () => Record<string, unknown>;
}

const names = ["type", "schema", "json_schema", "spaced", "compact", "anyOrder", "regex", "grammar", "choices"];

const target = "draft-2020-12";

/** toForm is a response format as the engine takes it; undefined for a free answer. */
export function toForm(format: ResponseFormat | null | undefined): Form | undefined {
  if (format === null || format === undefined) return undefined;
  if (!(isObject(format) || typeof format === "function")) throw wrong(format);
  if (isConvertible(format)) return { schema: JSON.stringify(schemaOf(format as SchemaSource)) };
  checkNames(format, names, "the response format");
  const { type } = format;
  const how = {
    ...("spaced" in format && format.spaced && { spaced: true }),
    ...("compact" in format && format.compact && { compact: true }),
    ...("anyOrder" in format && format.anyOrder && { anyOrder: true }),
  };
  switch (type) {
    case "text":
      return undefined;
    case "json_object":
      // An object, as OpenAI's API has it, and no other value.
      return { schema: JSON.stringify({ type: "object" }), ...how };
    case "json_schema": {
      const given = "json_schema" in format ? format.json_schema?.schema : format.schema;
      if (given === undefined || given === null)
        throw refuse("the response format has no schema", "Give it as schema, or as json_schema.schema.");
      return { schema: JSON.stringify(schemaOf(given)), ...how };
    }
    case "regex":
      return { regex: text(format.regex, "regex") };
    case "grammar":
      return { grammar: text(format.grammar, "grammar") };
    case "choice":
      if (!Array.isArray(format.choices) || !format.choices.length)
        throw refuse("the response format has no choices", "Give a list of texts.");
      return { choices: format.choices.map((choice: unknown) => text(choice, "choices")) };
  }
  throw wrong(type);
}

/** schemaOf is the JSON schema of a schema: itself, or what its library makes of it. */
function schemaOf(source: SchemaSource): unknown {
  if (!isConvertible(source)) return source;
  try {
    return converted(source as Convertible);
  } catch (cause) {
    if (cause instanceof GemwireError) throw cause;
    const advice = "Change what its library cannot say in a JSON schema, or give a JSON schema.";
    throw new GemwireError("bad-argument", `the schema: ${cause instanceof Error ? cause.message : String(cause)}`, {
      advice,
      cause,
    });
  }
}

function converted(convertible: Convertible): unknown {
  const standard = convertible["~standard"];
  if (standard?.jsonSchema?.input) return standard.jsonSchema.input({ target });
  if (typeof convertible.toJSONSchema === "function") return convertible.toJSONSchema({ target, io: "input" });
  if (typeof convertible.toJsonSchema === "function") return convertible.toJsonSchema();
  throw refuse(
    `a schema of ${standard?.vendor ?? "this library"} says nothing of its JSON schema`,
    "Give the JSON schema that the library makes of it, such as z.toJSONSchema(schema).",
  );
}

function isConvertible(given: unknown): given is Convertible {
  if (!isObject(given) && typeof given !== "function") return false;
  const c = given as Convertible;
  return isObject(c["~standard"]) || typeof c.toJSONSchema === "function" || typeof c.toJsonSchema === "function";
}

const isObject = (given: unknown): given is object => typeof given === "object" && given !== null;

function text(given: unknown, name: string): string {
  if (typeof given === "string") return given;
  throw refuse(`${name} of the response format is ${JSON.stringify(given)}; wanted a text`);
}

const refuse = (message: string, advice?: string) => new GemwireError("bad-argument", message, { advice });

const wrong = (given: unknown) =>
  refuse(
    `the response format is ${JSON.stringify(given)}`,
    "Give json_object, json_schema, regex, choice, grammar or text as its type, or a schema.",
  );
