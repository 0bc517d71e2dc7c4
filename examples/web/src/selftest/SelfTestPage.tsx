import { Model, type SelfTestProgress, type SelfTestReport } from "gemwire";
import { useEffect, useRef, useState } from "react";
import { PageBody } from "../app/PageBody";
import { PageHeader } from "../app/PageHeader";
import { useSession } from "../app/session";
import { useEngine } from "../engine/engineStore";
import { failureOf, isCancelled, type Failure } from "../engine/failure";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Progress } from "../ui/Progress";
import { WebGpuSection } from "../settings/WebGpuSection";
import { reportText } from "./report";

type Test =
  | { state: "idle" }
  | { state: "running"; progress: SelfTestProgress | null }
  | { state: "done"; report: SelfTestReport }
  | { state: "failed"; failure: Failure };

export function SelfTestPage() {
  const support = useSession((state) => state.support);
  const reopen = useEngine((state) => state.reopen);
  const [test, setTest] = useState<Test>({ state: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const run = async (options: { force: boolean; full: boolean }) => {
    const controller = new AbortController();
    running.current = controller;
    setTest({ state: "running", progress: null });
    try {
      const report = await Model.selfTest({
        signal: controller.signal,
        ...options,
        onProgress: (progress) => setTest({ state: "running", progress }),
      });
      setTest({ state: "done", report });
    } catch (error) {
      setTest(isCancelled(error) ? { state: "idle" } : { state: "failed", failure: failureOf(error) });
    }
  };

  return (
    <>
      <PageHeader title="Self-test" />
      <PageBody className="space-y-6">
        <WebGpuSection />
        <div>
          <h2 className="font-serif text-2xl tracking-tight">Does this GPU compute what it should?</h2>
          <p className="mt-2 max-w-prose text-soft">
            Browsers and drivers have bugs that turn answers into gibberish. The test runs every kernel here and
            compares it with the same computation on the CPU. A kernel that comes out wrong is not used from then on.
            Where compiling is slow, only what models use is tried, unless everything is asked for; that takes minutes.
          </p>
        </div>
        {test.state !== "running" && (
          <div className="flex flex-wrap gap-2">
            <Button
              look="solid"
              className="min-h-11 px-5"
              disabled={support?.webgpu === false}
              onClick={() => void run({ force: test.state === "done", full: false })}
            >
              {test.state === "done" ? "Test again" : "Run the self-test"}
            </Button>
            <Button
              className="min-h-11"
              disabled={support?.webgpu === false}
              onClick={() => void run({ force: true, full: true })}
            >
              Test everything
            </Button>
          </div>
        )}
        {test.state === "running" && (
          <div className="max-w-md space-y-2">
            <p className="text-sm text-soft tabular-nums">
              {test.progress ? `${test.progress.done} of ${test.progress.total}: ${test.progress.name}` : "Starting…"}
            </p>
            <Progress label="Self-test" done={test.progress?.done ?? 0} total={test.progress?.total ?? 0} />
            <Button onClick={() => running.current?.abort()}>Stop</Button>
          </div>
        )}
        <div aria-live="polite">
          {test.state === "failed" && (
            <p role="alert" className="text-danger">
              {test.failure.sentence} {test.failure.advice}
            </p>
          )}
          {test.state === "done" && <Report report={test.report} onReload={() => void reopen()} />}
        </div>
      </PageBody>
    </>
  );
}

function Report({ report, onReload }: { report: SelfTestReport; onReload: () => void }) {
  const text = reportText(report, navigator.userAgent);
  const { healthy, passed, failed, skipped, seconds, cached, ops } = report;
  return (
    <div className="space-y-5">
      <div className={`border-l-2 pl-4 ${healthy ? "border-accent" : "border-danger"}`}>
        <p className="font-serif text-xl">
          {healthy ? "Yes. Every kernel agrees with the CPU." : "Not everywhere. What came out wrong is switched off."}
        </p>
        <p className="mt-1 text-sm text-soft tabular-nums">
          {passed} passed, {failed} failed, {skipped} skipped
          {cached ? ", kept from an earlier run on this GPU and browser" : ` in ${seconds.toFixed(1)} s`}.
        </p>
        {!healthy && (
          <Button className="mt-3" onClick={onReload}>
            Reload the model without them
          </Button>
        )}
      </div>
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Results by kernel">
        <table className="w-full text-sm tabular-nums">
          <thead>
            <tr className="border-b border-ink text-left">
              <th className="py-1.5 pr-4 font-semibold">Kernel</th>
              <th className="pr-4 text-right font-semibold">Passed</th>
              <th className="pr-4 text-right font-semibold">Failed</th>
              <th className="text-right font-semibold">Largest error</th>
            </tr>
          </thead>
          <tbody>
            {ops.map((op) => (
              <tr key={op.op} className="border-b border-line">
                <td className="py-1.5 pr-4 font-mono text-[0.8125rem]">{op.op}</td>
                <td className="pr-4 text-right">{op.passed}</td>
                <td className={`pr-4 text-right ${op.failed > 0 ? "font-semibold text-danger" : "text-soft"}`}>
                  {op.failed}
                </td>
                <td className="text-right text-soft">{(op.worst * 100).toFixed(0)} % of the limit</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <figure className="overflow-hidden rounded-md border border-line bg-sunk">
        <figcaption className="flex items-center justify-between border-b border-line pl-3 text-xs text-soft">
          <span>Report for a bug report</span>
          <CopyButton text={text} label="Copy the report" />
        </figcaption>
        <pre tabIndex={0} className="max-h-60 overflow-auto p-3 font-mono text-xs leading-relaxed">
          {text}
        </pre>
      </figure>
    </div>
  );
}
