import { store, type PlanResult, type Source } from "gemwire";
import { useState } from "react";
import { modelFailureOf, type Failure } from "../engine/failure";
import { FailureText } from "../engine/FailureText";
import { planOptions, useSettings } from "../settings/settingsStore";
import { Button } from "../ui/Button";
import { planText } from "./planText";

type Checked =
  | { state: "unknown" }
  | { state: "checking" }
  | { state: "known"; result: PlanResult }
  | { state: "failed"; failure: Failure };

/** Says on demand whether a model fits; that reads the file's header, from wherever it is. */
export function PlanLine({ source, name }: { source: Source; name: string }) {
  const settings = useSettings();
  const [checked, setChecked] = useState<Checked>({ state: "unknown" });
  const check = async () => {
    setChecked({ state: "checking" });
    try {
      const result = await store.plan(source, planOptions(settings));
      setChecked({ state: "known", result });
    } catch (error) {
      setChecked({ state: "failed", failure: modelFailureOf(error) });
    }
  };
  return (
    <div className="text-[0.8125rem]" aria-live="polite">
      {checked.state === "unknown" && (
        <Button
          look="plain"
          className="-ml-2 !min-h-8 !px-2 !text-[0.8125rem]"
          aria-label={`Does it fit? ${name}`}
          onClick={() => void check()}
        >
          Does it fit?
        </Button>
      )}
      {checked.state === "checking" && <span className="text-soft">Reading the header…</span>}
      {checked.state === "failed" && (
        <div className="text-danger">
          <FailureText failure={checked.failure} />
        </div>
      )}
      {checked.state === "known" && <Known result={checked.result} />}
    </div>
  );
}

function Known({ result }: { result: PlanResult }) {
  const { verdict, detail } = planText(result);
  return (
    <span>
      <strong className={`font-semibold ${result.fits ? "text-accent" : "text-danger"}`}>{verdict}</strong>{" "}
      <span className="text-soft">{detail}</span>
    </span>
  );
}
