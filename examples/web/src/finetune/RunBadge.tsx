import { useRun } from "./runStore";

/** How far a run under way is, for pages that do not show it. */
export function RunBadge() {
  const share = useRun(({ run }) =>
    run.state === "running" || run.state === "paused"
      ? Math.floor((100 * (run.last?.step ?? run.session.step)) / Math.max(1, run.session.plan.steps))
      : null,
  );
  const paused = useRun(({ run }) => run.state === "paused");
  if (share === null) return null;
  return (
    <span className={`text-xs tabular-nums ${paused ? "text-soft" : "text-wire"}`}>
      <span className="sr-only">{paused ? "paused at" : "training,"} </span>
      {share} %
    </span>
  );
}
