import type { StoredModel } from "gemwire";
import { builtin, sameChoice, type ModelChoice } from "../engine/choice";
import { useEngine } from "../engine/engineStore";
import { FailureText } from "../engine/FailureText";
import { Button, IconButton } from "../ui/Button";
import { bytes } from "../ui/format";
import { Section } from "../ui/Section";
import { PlanLine } from "./PlanLine";
import { startModel } from "./startModel";
import { useStoredModels, type Transfer } from "./storedModels";
import { TransferLine } from "./TransferLine";

const nanoSize = 38_708_416;

/** The models that need no network: the built-in one and those in the browser's storage. */
export function StoredSection() {
  const { models, transfers, estimate, failure } = useStoredModels();
  // What was begun elsewhere on the page is shown there.
  const elsewhere = new Set([...transfers.values()].filter(({ origin }) => origin !== null).map(({ name }) => name));
  const shown = models.filter(({ name }) => !elsewhere.has(name));
  const starting = [...transfers.values()].filter(
    ({ name }) => !elsewhere.has(name) && !models.some((model) => model.name === name),
  );
  const room =
    estimate && estimate.quota > 0
      ? `${bytes(estimate.usage)} used; the browser allows ` +
        `${bytes(estimate.quota)}${estimate.persisted ? " and will not delete it" : ""}.`
      : "";
  return (
    <Section title="On this device" intro={room}>
      {failure && (
        <div role="alert" className="mb-3 text-sm text-danger">
          <FailureText failure={failure} />
        </div>
      )}
      <ul className="divide-y divide-line border-y border-line">
        <Row name="nano" size={nanoSize} about="Built in. Small, for trying out." choice={builtin} />
        {shown.map((model) => (
          <StoredRow key={model.name} model={model} transfer={transfers.get(model.name) ?? null} />
        ))}
        {starting.map((transfer) => (
          <Coming key={transfer.name} transfer={transfer} />
        ))}
      </ul>
    </Section>
  );
}

function StoredRow({ model, transfer }: { model: StoredModel; transfer: Transfer | null }) {
  if (transfer || !model.complete) {
    const shown = transfer ?? {
      name: model.name,
      url: model.url ?? null,
      state: "paused" as const,
      done: model.received,
      total: model.size,
      speed: 0,
      failure: null,
      origin: null,
    };
    return <Coming transfer={shown} />;
  }
  return (
    <Row
      name={model.name}
      size={model.size}
      about={model.url ? new URL(model.url).hostname : "From this device"}
      choice={{ kind: "stored", name: model.name }}
    />
  );
}

function Coming({ transfer }: { transfer: Transfer }) {
  return (
    <li className="py-3">
      <TransferLine transfer={transfer} />
    </li>
  );
}

function Row({ name, size, about, choice }: { name: string; size: number; about: string; choice: ModelChoice }) {
  const remove = useStoredModels((state) => state.remove);
  const inUse = useEngine(
    ({ engine }) => engine.state === "ready" && engine.choice !== null && sameChoice(engine.choice, choice),
  );
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3">
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium [overflow-wrap:anywhere]">{name}</p>
        <p className="text-[0.8125rem] text-soft">
          {bytes(size)} · {about}
        </p>
        {choice.kind === "stored" && <PlanLine source={{ opfs: choice.name }} name={name} />}
      </div>
      <div className="flex items-center gap-1">
        {inUse ? (
          <span className="px-2 text-sm font-medium text-accent">In use</span>
        ) : (
          <Button aria-label={`Use ${name}`} onClick={() => startModel(choice)}>
            Use
          </Button>
        )}
        {choice.kind === "stored" && (
          <DeleteButton name={name} size={size} inUse={inUse} onDelete={() => void remove(name)} />
        )}
      </div>
    </li>
  );
}

function DeleteButton({
  name,
  size,
  inUse,
  onDelete,
}: {
  name: string;
  size: number;
  inUse: boolean;
  onDelete: () => void;
}) {
  const confirmed = () =>
    confirm(`Delete ${name} (${bytes(size)}) from this device? To get it back, you have to download it again.`);
  const onClick = async () => {
    if (!confirmed()) return;
    if (inUse) await useEngine.getState().open(builtin);
    onDelete();
  };
  return <IconButton icon="trash" label={`Delete ${name}`} onClick={() => void onClick()} />;
}
