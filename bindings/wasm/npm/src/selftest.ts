import { Connection } from "./connection.js";
import type { SelfTestOptions, SelfTestReport, Verdict } from "./types.js";
import { version } from "./version.js";

export async function selfTest({
  force = false,
  full = false,
  powerPreference,
  signal,
  onProgress,
}: SelfTestOptions): Promise<SelfTestReport> {
  const connection = await Connection.open();
  try {
    const { verdict, cached } = await connection.call(
      "selfTest",
      { version, force, full, ...(powerPreference && { powerPreference }) },
      { signal, onEvent: onProgress },
    );
    return report(verdict, cached);
  } finally {
    connection.close();
  }
}

function report(verdict: Verdict, cached: boolean): SelfTestReport {
  const sum = (key: "passed" | "failed" | "skipped") => verdict.ops.reduce((total, op) => total + op[key], 0);
  const failures = verdict.failures ?? [];
  return {
    ...verdict,
    failures,
    healthy: failures.length === 0,
    passed: sum("passed"),
    failed: sum("failed"),
    skipped: sum("skipped"),
    cached,
  };
}
