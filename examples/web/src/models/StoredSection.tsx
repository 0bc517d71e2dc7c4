import type { StoredModel } from "gemwire";
import { builtin, sameChoice, type ModelChoice } from "../engine/choice";
import { useEngine } from "../engine/engineStore";
import { useSettings } from "../settings/settingsStore";
import { Button, IconButton } from "../ui/Button";
import { bytes } from "../ui/format";
import { Section } from "../ui/Section";
import { PlanLine } from "./PlanLine";
import { startModel } from "./startModel";
import { useStoredModels, type Transfer } from "./storedModels";
import { TransferLine } from "./TransferLine";

const nanoSize = 12_548_000;

/** The models that need no network: the built-in one and those in the browser's storage. */
export function StoredSection() {
  const { models, transfers, estimate, failure } = useStoredModels();
  const starting = [...transfers.values()].filter(({ name }) => !models.some((model) => model.name === name));
  const room = estimate && estimate.quota > 0 ? `${bytes(estimate.usage)} used; the browser allows ${bytes(estimate.quota)}${estimate.persisted ? " and has promised to keep it" : ""}.` : "";
  return (
    <Section title="On this device" intro={room}>
      {failure && <p role="alert" className="mb-3 text-sm text-danger">{failure.sentence} {failure.advice}</p>}
      <ul className="divide-y divide-line border-y border-line">
        <Row name="nano" size={nanoSize} about="Built in. Small, real, for trying out." choice={builtin} />
        {models.map((model) => <StoredRow key={model.name} model={model} transfer={transfers.get(model.name) ?? null} />)}
        {starting.map((transfer) => <Coming key={transfer.name} transfer={transfer} />)}
      </ul>
    </Section>
  );
}

function StoredRow({ model, transfer }: { model: StoredModel; transfer: Transfer | null }) {
  if (transfer || !model.complete) {
    const shown = transfer ?? { name: model.name, url: model.url ?? null, state: "paused" as const, done: model.received, total: model.size, speed: 0, failure: null };
    return <Coming transfer={shown} />;
  }
  return <Row name={model.name} size={model.size} about={model.url ? new URL(model.url).hostname : "From this device"} choice={{ kind: "stored", name: model.name }} />;
}

function Coming({ transfer }: { transfer: Transfer }) {
  return <li className="py-3"><TransferLine transfer={transfer} /></li>;
}

function Row({ name, size, about, choice }: { name: string; size: number; about: string; choice: ModelChoice }) {
  const remove = useStoredModels((state) => state.remove);
  const inUse = useSettings((state) => sameChoice(state.model, choice));
  const ready = useEngine((state) => state.engine.state === "ready");
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3">
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium [overflow-wrap:anywhere]">{name}</p>
        <p className="text-[0.8125rem] text-soft">{bytes(size)} · {about}</p>
        {choice.kind === "stored" && <PlanLine source={{ opfs: choice.name }} name={name} />}
      </div>
      <div className="flex items-center gap-1">
        {inUse && ready ? <span className="px-2 text-sm font-medium text-accent">In use</span> : <Button aria-label={`Use ${name}`} onClick={() => startModel(choice)}>Use</Button>}
        {choice.kind === "stored" && <DeleteButton name={name} size={size} inUse={inUse} onDelete={() => void remove(name)} />}
      </div>
    </li>
  );
}

function DeleteButton({ name, size, inUse, onDelete }: { name: string; size: number; inUse: boolean; onDelete: () => void }) {
  const confirmed = () => confirm(`Delete ${name} (${bytes(size)}) from this device? Getting it back means downloading it again.`);
  const onClick = async () => {
    if (!confirmed()) return;
    if (inUse) await useEngine.getState().open(builtin);
    onDelete();
  };
  return <IconButton icon="trash" label={`Delete ${name}`} onClick={() => void onClick()} />;
}
