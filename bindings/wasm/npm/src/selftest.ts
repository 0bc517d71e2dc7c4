import { Connection } from "./connection.js";
import type { SelfTestProgress, SelfTestReport, Verdict } from "./types.js";
import { version } from "./version.js";

export async function selfTest(options: { signal?: AbortSignal; onProgress?: (progress: SelfTestProgress) => void; force?: boolean }): Promise<SelfTestReport> {
  const connection = await Connection.open();
  try {
    const { verdict, cached } = await connection.call("selfTest", { version, force: options.force ?? false }, {
      signal: options.signal, onEvent: options.onProgress,
    });
    return report(verdict, cached);
  } finally {
    connection.close();
  }
}

function report(verdict: Verdict, cached: boolean): SelfTestReport {
  const sum = (key: "passed" | "failed" | "skipped") => verdict.ops.reduce((total, op) => total + op[key], 0);
  const failures = verdict.failures ?? [];
  return { ...verdict, failures, healthy: failures.length === 0, passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped"), cached };
}
