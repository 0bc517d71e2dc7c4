import type { ResponseFormat } from "gemwire";

/**
 * wireForm puts a form into response_format of OpenAI's API, which knows schemas alone. `gemwire serve` knows the
 * others by their own types too; another server refuses what it does not know.
 */
export function wireForm(format: ResponseFormat): object {
  if (format.type !== "json_schema" || !("schema" in format)) return format;
  const schema = format.schema === true ? {} : format.schema;
  return { type: "json_schema", json_schema: { name: "answer", schema } };
}
