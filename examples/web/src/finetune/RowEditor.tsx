import { useEffect, useId, useRef, type KeyboardEvent } from "react";
import { IconButton } from "../ui/Button";
import { inputLook } from "../ui/Field";
import { isComposing } from "../ui/keys";
import { useExamples } from "./examplesStore";
import type { Row } from "./rows";

interface Props {
  row: Row;
  number: number;
  /** Why it cannot be learned from. */
  wrong: string | undefined;
  /** It was just added, or stands where one was deleted: the keyboard goes here. */
  focused: boolean;
  onBelow: () => void;
  onRemove: () => void;
}

const look = `${inputLook} field-sizing-content max-h-56 min-h-11 resize-y`;

/** One example: a question with its answer, or a line of JSON as it is. */
export function RowEditor({ row, number, wrong, focused, onBelow, onRemove }: Props) {
  const write = useExamples((state) => state.write);
  const first = useRef<HTMLTextAreaElement>(null);
  const wrongId = useId();
  useEffect(() => {
    if (focused) first.current?.focus();
  }, [focused]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isComposing(event.nativeEvent)) return;
    event.preventDefault();
    onBelow();
  };
  const marks = wrong === undefined ? {} : { "aria-invalid": true, "aria-describedby": wrongId };
  return (
    <li className="flex items-start gap-2">
      <span aria-hidden="true" className="w-6 shrink-0 pt-2.5 text-right text-xs text-soft tabular-nums">
        {number}
      </span>
      <div className="min-w-0 flex-1">
        {row.kind === "pair" ? (
          <div className="grid gap-1.5 sm:grid-cols-2">
            <textarea
              ref={first}
              rows={1}
              aria-label={`Question ${number}`}
              placeholder="Question"
              className={look}
              value={row.prompt}
              onKeyDown={onKeyDown}
              onChange={({ target }) => write({ ...row, prompt: target.value })}
              {...marks}
            />
            <textarea
              rows={1}
              aria-label={`Answer ${number}`}
              placeholder="Answer"
              className={look}
              value={row.completion}
              onKeyDown={onKeyDown}
              onChange={({ target }) => write({ ...row, completion: target.value })}
              {...marks}
            />
          </div>
        ) : (
          <textarea
            ref={first}
            rows={1}
            spellCheck={false}
            aria-label={`Line ${number}, as JSON`}
            className={`${look} font-mono text-xs`}
            value={row.text}
            onKeyDown={onKeyDown}
            onChange={({ target }) => write({ ...row, text: target.value })}
            {...marks}
          />
        )}
        {wrong !== undefined && (
          <p id={wrongId} className="pt-0.5 text-[0.8125rem] text-danger">
            {wrong}
          </p>
        )}
      </div>
      <IconButton icon="trash" label={`Delete example ${number}`} onClick={onRemove} />
    </li>
  );
}
