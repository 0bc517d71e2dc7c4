import type { Failure } from "./failure";

/** What failed and what to do, with the engine's own words behind a disclosure. */
export function FailureText({ failure }: { failure: Failure }) {
  const { sentence, advice, details } = failure;
  return (
    <>
      {sentence} {advice}
      {details !== undefined && (
        <details className="mt-1 text-[0.8125rem] text-soft">
          <summary className="w-fit">Details</summary>
          <p className="font-mono text-xs [overflow-wrap:anywhere]">{details}</p>
        </details>
      )}
    </>
  );
}
