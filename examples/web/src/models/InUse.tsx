import { useEngine } from "../engine/engineStore";
import { Facts } from "../ui/Facts";
import { bytes, count } from "../ui/format";
import { Progress } from "../ui/Progress";
import { Section } from "../ui/Section";
import { AssistantField } from "./AssistantField";
import { kernelsText } from "./kernelsText";
import { memoryText } from "./planText";
import { runsOn } from "./runsOn";

/** The model in memory and where it runs. */
export function InUse() {
  const engine = useEngine((state) => state.engine);
  if (engine.state === "loading") {
    return (
      <Section title="In use">
        <p className="pb-2 text-sm text-soft">Loading {engine.label}…</p>
        <Progress
          label={`Loading ${engine.label}`}
          done={engine.progress?.done ?? 0}
          total={engine.progress?.total ?? 0}
        />
      </Section>
    );
  }
  if (engine.state !== "ready") return null;
  const { info } = engine.model;
  const template: [string, string][] = info.templateNote ? [["Chat template", info.templateNote]] : [];
  const facts: [string, string][] = [
    ...template,
    ["Runs on", runsOn(info)],
    ["File", bytes(info.fileSize)],
    ["Size", `${count(info.layers)} layers, ${count(info.vocab)} tokens of vocabulary`],
    [
      "Context",
      `${count(info.context)} of at most ${count(info.maxContext)} ` +
        `tokens${info.kvCache === "q8" ? ", kept in 8 bits" : ""}`,
    ],
  ];
  if (info.assistant) facts.push(["Assistant", info.assistant]);
  if (info.kernels) facts.push(["Kernels", kernelsText(info.kernels)]);
  if (info.plan) facts.push(["Memory", memoryText(info.plan)]);
  return (
    <Section title="In use">
      <div className="rounded-lg border border-line bg-raised p-4">
        <p className="text-lg font-semibold tracking-tight">{info.name || engine.label}</p>
        <Facts facts={facts} />
        <AssistantField model={engine.label} />
      </div>
    </Section>
  );
}
