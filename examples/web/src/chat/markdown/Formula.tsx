import { lazy, memo, Suspense } from "react";

interface Props {
  tex: string;
  display: boolean;
  /** What stands there until KaTeX is loaded, or where it cannot read the formula: as the model wrote it. */
  source: string;
}

export function Source({ source }: Pick<Props, "source">) {
  return <code>{source}</code>;
}

// KaTeX comes with the first formula. Where it cannot be fetched, formulas stay as they were written.
const Typeset = lazy(() => import("./Typeset").catch(() => ({ default: Source })));

/** A formula, typeset. */
export const Formula = memo(function Formula(formula: Props) {
  const { display, source } = formula;
  return (
    <span className={display ? "formula formula-display" : "formula"} dir="ltr" {...(display ? { tabIndex: 0 } : {})}>
      <Suspense fallback={<Source source={source} />}>
        <Typeset {...formula} />
      </Suspense>
    </span>
  );
});
