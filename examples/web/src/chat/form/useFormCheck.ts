import { useEffect, useState } from "react";
import { useEngine } from "../../engine/engineStore";
import { failureOf, isCancelled } from "../../engine/failure";
import { formatOf, type AnswerForm } from "./answerForm";
import { lineOf } from "./jsonPlace";

/** What is wrong with a form, and where in the schema. */
export interface Fault {
  sentence: string;
  /** As a JSON pointer; empty where the place is not known, or is the whole. */
  place: string;
  line: number | null;
}

/** A form is looked at when the typing pauses. */
const pause = 300;

/** useFormCheck has the open model compile a form; null where it is right, or where there is no model to ask. */
export function useFormCheck(form: AnswerForm): Fault | null {
  const [fault, setFault] = useState<Fault | null>(null);
  const model = useEngine(({ engine }) => (engine.state === "ready" ? engine.model : null));
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const check = async () => {
      try {
        const format = formatOf(form);
        if (format && model) await model.checkFormat(format, { signal });
        if (!signal.aborted) setFault(null);
      } catch (error) {
        if (!signal.aborted && !isCancelled(error)) setFault(faultOf(failureOf(error).sentence, form.schema));
      }
    };
    const timer = setTimeout(() => void check(), pause);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [form, model]);
  return fault;
}

/** faultOf takes the place out of what the compiler says: "grammar: not supported: at #/properties/a/pattern: …". */
export function faultOf(said: string, schema: string): Fault {
  const sentence = said.replace(/^grammar: /, "");
  const found = /\bat (#[^\s:]*): /.exec(sentence);
  if (!found?.[1]) return { sentence, place: "", line: lineOfPosition(sentence, schema) };
  return { sentence: sentence.replace(found[0], ""), place: found[1], line: lineOf(schema, found[1]) };
}

/** The line that a reader of JSON names by its position. */
function lineOfPosition(sentence: string, text: string): number | null {
  const at = /at position (\d+)/.exec(sentence)?.[1];
  return at === undefined ? null : text.slice(0, Number(at)).split("\n").length;
}
