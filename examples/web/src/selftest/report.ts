import type { SelfTestReport } from "gemwire";

/** reportText is the self-test's report as it goes into a bug report. */
export function reportText(report: SelfTestReport, userAgent: string): string {
  const { info, drivers, features, passed, failed, skipped, seconds, version, time, cached } = report;
  const on = Object.entries(features)
    .filter(([, has]) => has)
    .map(([name]) => name);
  return [
    `gemwire ${version} self-test, ${time}${cached ? " (kept from an earlier run)" : ""}`,
    `browser   ${userAgent}`,
    `adapter   ${[info.name, info.vendor, info.backend, info.kind].filter(Boolean).join(", ")}`,
    ...(drivers ? [`drivers   ${drivers}`] : []),
    `features  ${on.join(", ") || "none"}`,
    `result    ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds.toFixed(1)} s`,
    "",
    ...report.ops.map(
      (op) =>
        `${op.failed > 0 ? "FAIL" : "ok  "} ${op.op.padEnd(18)} ${op.passed} passed, ${op.failed} failed, ` +
        `${op.skipped} skipped, worst ${op.worst.toFixed(2)} of what is allowed`,
    ),
    ...report.failures.map(
      (failure) =>
        `FAIL ${failure.op} ${failure.case}: ` +
        (failure.message ?? `error ${failure.error.toExponential(2)}, allowed ${failure.tolerance.toExponential(2)}`) +
        (failure.kernels?.length ? `; not used any more: ${failure.kernels.join(", ")}` : ""),
    ),
  ].join("\n");
}
