import { useId, useMemo } from "react";
import type { Curve, Point } from "./curve";
import { lossLabel, plotOf, size } from "./plot";

/** On a phone the plot is half as large, and its letters are not. */
const letters = "fill-soft text-[12px] max-sm:text-[21px]";

/** How a run has gone so far, drawn, in a sentence, and as a table. */
export function LossPlot({ curve, steps }: { curve: Curve; steps: number }) {
  const id = useId();
  const plot = useMemo(() => plotOf(curve, steps), [curve, steps]);
  const { width, height, left, right, bottom } = size;
  return (
    <figure>
      <figcaption className="flex flex-wrap gap-x-5 gap-y-1 pb-1.5 text-xs text-soft">
        <span className="inline-flex items-center gap-1.5">
          <svg aria-hidden="true" viewBox="0 0 20 6" className="w-5">
            <path d="M0 3h20" stroke="var(--wire)" strokeWidth="2" />
          </svg>
          Training
        </span>
        {curve.heldOut.length > 0 && (
          <span className="inline-flex items-center gap-1.5">
            <svg aria-hidden="true" viewBox="0 0 20 6" className="w-5">
              <path d="M0 3h20" stroke="var(--accent)" strokeWidth="2" strokeDasharray="5 3" />
              <circle cx="10" cy="3" r="2.5" fill="var(--accent)" />
            </svg>
            Held out
          </span>
        )}
        <span className="ml-auto">Loss{plot.logarithmic ? ", by magnitude," : ""} over steps</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-labelledby={id}
        className="block h-auto w-full rounded-md border border-line bg-raised"
      >
        <title id={id}>{sentence(curve, steps)}</title>
        {plot.yTicks.map(({ at, label }) => (
          <g key={label}>
            <path d={`M${left} ${at}H${width - right}`} stroke="var(--line)" strokeWidth="1" />
            <text x={left - 7} y={at} dominantBaseline="central" textAnchor="end" className={letters}>
              {label}
            </text>
          </g>
        ))}
        {plot.xTicks.map(({ at, label }) => (
          <g key={label}>
            <path d={`M${at} ${height - bottom}v4`} stroke="var(--edge)" strokeWidth="1" />
            <text x={at} y={height - 11} textAnchor="middle" className={letters}>
              {label}
            </text>
          </g>
        ))}
        <path
          d={plot.train}
          fill="none"
          stroke="var(--wire)"
          strokeWidth="1.8"
          strokeLinejoin="round"
          strokeLinecap="round"
        />
        <path d={plot.heldOut} fill="none" stroke="var(--accent)" strokeWidth="1.8" strokeDasharray="6 4" />
        {plot.marks.map(({ x, y }, index) => (
          <circle key={index} cx={x} cy={y} r="3" fill="var(--accent)" />
        ))}
      </svg>
      <details className="mt-1.5 text-[0.8125rem]">
        <summary className="w-fit text-soft">As a table</summary>
        <LossTable curve={curve} />
      </details>
    </figure>
  );
}

/** What the plot shows, for who does not see it. */
function sentence({ train, heldOut }: Curve, steps: number): string {
  const [first, last, held] = [train[0], train.at(-1), heldOut.at(-1)];
  if (!first || !last) return "The losses of this run. There are none yet.";
  const fall =
    `The loss went from ${lossLabel(first.loss)} at step ${first.step} to ${lossLabel(last.loss)} at step ` +
    `${last.step} of ${steps}.`;
  return held ? `${fall} The held-out loss is ${lossLabel(held.loss)}.` : fall;
}

const mostRows = 12;

function LossTable({ curve: { train, heldOut } }: { curve: Curve }) {
  const every = Math.max(1, Math.ceil(train.length / mostRows));
  const rows = train.filter((_, i) => (train.length - 1 - i) % every === 0);
  /** The last look at what was held out, up to a step. */
  const looked = (step: number): Point | undefined => heldOut.findLast((point) => point.step <= step);
  return (
    <table className="mt-1 tabular-nums">
      <thead>
        <tr className="border-b border-ink text-left">
          <th className="py-1 pr-6 font-semibold">Step</th>
          <th className="pr-6 font-semibold">Loss</th>
          {heldOut.length > 0 && <th className="font-semibold">Held out</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ step, loss }) => {
          const held = looked(step);
          return (
            <tr key={step} className="border-b border-line">
              <td className="py-1 pr-6">{step}</td>
              <td className="pr-6">{lossLabel(loss)}</td>
              {heldOut.length > 0 && <td>{held ? lossLabel(held.loss) : "–"}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
