import type { ChatEvent, ChatOptions, Message, Model } from "gemwire";
import { GemwireError } from "gemwire";
import { useAdapters } from "./adaptersStore";

/** An adapter that an answer is computed with, and how much of it. */
export interface AdapterUse {
  name: string;
  weight: number;
}

/** Which state of each adapter a model has loaded, by the time at which it was kept. */
const loaded = new WeakMap<Model, Map<string, number>>();

/** Answers come one after the other: which adapters are in use belongs to the model, not to a conversation. */
let turn: Promise<unknown> = Promise.resolve();

function inTurn(): Promise<() => void> {
  let leave: () => void = () => undefined;
  const mine = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const before = turn;
  turn = mine;
  return before.then(() => leave);
}

/** answering is model.chat with these adapters in use, and no others. */
export async function* answering(
  model: Model,
  uses: readonly AdapterUse[],
  prompt: Message[],
  options: ChatOptions,
): AsyncGenerator<ChatEvent, void, undefined> {
  const leave = await inTurn();
  try {
    await computeWith(model, uses);
    yield* model.chat(prompt, options);
  } finally {
    leave();
  }
}

/**
 * loadKept has a model take an adapter of the list in, without using it; one of another model is refused with a
 * sentence.
 */
export async function loadKept(model: Model, name: string): Promise<void> {
  const adapter = useAdapters.getState().adapters.find((one) => one.name === name);
  if (!adapter)
    throw new GemwireError("not-found", `The adapter “${name}” is no longer on this device.`, {
      advice: "Turn it off in this chat's options.",
    });
  const known = loaded.get(model) ?? new Map<string, number>();
  loaded.set(model, known);
  if (known.get(name) === adapter.modified) return;
  if (known.has(name)) {
    await model.clearAdapters();
    await model.unloadAdapter(name);
    known.delete(name);
  }
  await model.loadAdapter({ opfs: name }, { name });
  known.set(name, adapter.modified);
  if (adapter.base === null) useAdapters.getState().note(name, { base: model.info.name });
}

async function computeWith(model: Model, uses: readonly AdapterUse[]): Promise<void> {
  const wanted = uses.filter(({ weight }) => weight !== 0);
  for (const { name } of wanted) await loadKept(model, name);
  // A model that has never had an adapter has none in use.
  if (!loaded.has(model)) return;
  const used = (await model.adapters()).filter(({ weight }) => weight !== 0);
  const same =
    used.length === wanted.length &&
    wanted.every(({ name, weight }) => used.some((one) => one.name === name && one.weight === weight));
  if (same) return;
  if (wanted.length === 0) await model.clearAdapters();
  else await model.useAdapters(wanted);
}

/** What a model is called with its adapters: "nano with facts and 0.5 × tone". */
export function labelWith(model: string, uses: readonly AdapterUse[]): string {
  const names = uses
    .filter(({ weight }) => weight !== 0)
    .map(({ name, weight }) => (weight === 1 ? name : `${weight} × ${name}`));
  return names.length === 0 ? model : `${model} with ${names.join(" and ")}`;
}
