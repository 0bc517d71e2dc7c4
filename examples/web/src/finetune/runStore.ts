import {
  TrainingSession,
  type Model,
  type RehearsalEvent,
  type SavedRun,
  type StepEvent,
  type TrainingEvent,
  type TrainingOptions,
  type TrainingResult,
} from "gemwire";
import { create } from "zustand";
import { freeName, useAdapters } from "../adapters/adaptersStore";
import { beforeClose, useEngine } from "../engine/engineStore";
import { failureOf, type Failure } from "../engine/failure";
import { counted } from "../ui/format";
import { emptyCurve, keptCurves, until, withStep, type Curve } from "./curve";
import { lossLabel } from "./plot";
import { speeds } from "./speeds";

/** What is known of a run that has begun. */
export interface Course {
  name: string;
  /** The model's. */
  base: string;
  last: StepEvent | null;
  curve: Curve;
  /** Conversations that the model has made up, before the first step. */
  rehearsed: RehearsalEvent | null;
}

/** The run that the page shows. There is one at a time. */
export type Run =
  | { state: "none" }
  | { state: "preparing" }
  | { state: "prepared"; name: string; session: TrainingSession; rank: number }
  | ({ state: "running" | "pausing" | "paused" | "stopping"; session: TrainingSession } & Course)
  | ({
      state: "done";
      result: TrainingResult;
      /** What kept the adapter from being kept; the session is open until it is. */ unkept: {
        failure: Failure;
        session: TrainingSession;
      } | null;
    } & Course)
  | { state: "failed"; failure: Failure };

interface RunState {
  run: Run;
  /** Runs that can be gone on with. */
  saved: readonly SavedRun[];
  /** Read out to screen readers. */
  announcement: string;
  refresh: () => Promise<void>;
  /** Reads the data and makes the plan; nothing is trained yet. */
  prepare: (jsonl: string, name: string, options: TrainingOptions) => Promise<void>;
  start: () => Promise<void>;
  pause: () => Promise<void>;
  resume: () => void;
  stop: () => Promise<void>;
  /** Tries again to put what was learned into the browser's storage. */
  keep: () => Promise<void>;
  /** Puts the run away: a plan, or one that has ended. */
  leave: () => Promise<void>;
  goOn: (name: string) => Promise<void>;
  giveUp: (name: string) => Promise<void>;
}

function openModel(): Model {
  const { engine } = useEngine.getState();
  if (engine.state !== "ready") throw new Error("No model is open. Choose one on the Models page.");
  return engine.model;
}

/** What a model is called in files and lists. */
function baseOf(model: Model): string {
  const { engine } = useEngine.getState();
  return model.info.name || (engine.state === "closed" ? "" : engine.label);
}

type Live = Extract<Run, { state: "running" | "pausing" | "paused" | "stopping" }>;

const isLive = (run: Run): run is Live =>
  run.state === "running" || run.state === "pausing" || run.state === "paused" || run.state === "stopping";

export const useRun = create<RunState>()((set, get) => {
  const fail = async (error: unknown) => {
    set({ run: { state: "failed", failure: failureOf(error) }, announcement: "" });
    await get().refresh();
  };

  const onEvent = (event: TrainingEvent) => {
    const { run } = get();
    if (!isLive(run)) return;
    switch (event.type) {
      case "step": {
        const curve = withStep(run.curve, event);
        set({ run: { ...run, last: event, curve } });
        if (event.heldOutLoss !== undefined)
          set({
            announcement:
              `Step ${event.step}: held-out loss ` +
              `${lossLabel(event.heldOutLoss)}${event.best ? ", the best so far" : ""}.`,
          });
        break;
      }
      case "rehearsal":
        set({ run: { ...run, rehearsed: event } });
        break;
      case "checkpoint":
        keptCurves.save(run.name, run.curve);
        break;
      case "paused":
        set({ announcement: `Paused at step ${event.step}.` });
        break;
    }
  };

  /** Drives a run that is ready to its end, whichever that is. */
  const drive = async (session: TrainingSession, course: Course) => {
    set({ run: { state: "running", session, ...course }, announcement: "Training has started." });
    try {
      const result = await session.start();
      const { run } = get();
      // A run whose model was closed has been put away.
      if (!isLive(run) || run.session !== session) return;
      const { name, base, last, curve, rehearsed } = run;
      if (last) speeds.note(base, last);
      set({
        run: { state: "done", result, unkept: null, name, base, last, curve, rehearsed },
        announcement:
          `${result.reason === "stopped" ? "Stopped" : "Finished"} after ` +
          counted(result.steps, "step") +
          (result.loss === undefined ? "." : `, with a loss of ${lossLabel(result.loss)}.`),
      });
      await keep(session);
    } catch (error) {
      const { run } = get();
      if (!isLive(run) || run.session !== session) return;
      await session.close().catch(() => undefined);
      await fail(error);
    }
  };

  const keep = async (session: TrainingSession) => {
    const { run } = get();
    if (run.state !== "done") return;
    const { stored, note, refresh } = useAdapters.getState();
    const name = freeName(
      run.name,
      stored.map((adapter) => adapter.name),
    );
    try {
      await session.keep(name);
    } catch (error) {
      set({ run: { ...run, unkept: { failure: failureOf(error), session } } });
      return;
    }
    note(name, {
      base: run.base,
      loss: run.result.loss ?? null,
      heldOutLoss: run.result.bestHeldOutLoss ?? null,
      deleted: false,
    });
    await refresh();
    set({ run: { ...run, name, unkept: null } });
    keptCurves.forget(run.name);
    await session.close();
    await get().refresh();
  };

  /** Puts a run away before its model closes: one that is under way can be gone on with later. */
  const letGo = async () => {
    const { run } = get();
    if (run.state === "prepared") await run.session.close({ keepCheckpoint: false });
    if (run.state === "done" && run.unkept) await run.unkept.session.close();
    if (isLive(run)) {
      keptCurves.save(run.name, run.curve);
      await run.session.pause().catch(() => undefined);
      set({ run: { state: "none" } });
      await run.session.close();
    }
    if (run.state === "prepared") set({ run: { state: "none" } });
    await get().refresh();
  };
  beforeClose(letGo);

  return {
    run: { state: "none" },
    saved: [],
    announcement: "",

    refresh: async () => {
      try {
        set({ saved: await TrainingSession.saved() });
      } catch {
        // Without storage there is nothing to go on with.
        set({ saved: [] });
      }
    },

    prepare: async (jsonl, typed, options) => {
      set({ run: { state: "preparing" }, announcement: "" });
      try {
        const taken = [...useAdapters.getState().stored, ...(await TrainingSession.saved())].map(({ name }) => name);
        const name = freeName(typed, taken);
        const session = await TrainingSession.prepare(openModel(), jsonl, { ...options, name, onEvent });
        set({ run: { state: "prepared", name, session, rank: options.rank ?? 0 } });
      } catch (error) {
        await fail(error);
      }
    },

    start: async () => {
      const { run } = get();
      if (run.state !== "prepared") return;
      await drive(run.session, {
        name: run.name,
        base: baseOf(openModel()),
        last: null,
        curve: emptyCurve,
        rehearsed: null,
      });
    },

    pause: async () => {
      const { run } = get();
      if (run.state !== "running") return;
      set({ run: { ...run, state: "pausing" } });
      await run.session.pause();
      const now = get().run;
      if (now.state === "pausing") set({ run: { ...now, state: "paused" } });
    },

    resume: () => {
      const { run } = get();
      if (run.state !== "paused") return;
      set({ run: { ...run, state: "running" }, announcement: "Training continues." });
      run.session.resume();
    },

    stop: async () => {
      const { run } = get();
      if (!isLive(run) || run.state === "stopping") return;
      set({ run: { ...run, state: "stopping" } });
      // What comes of it comes out of start as well.
      await run.session.stop().catch(() => undefined);
    },

    keep: async () => {
      const { run } = get();
      if (run.state === "done" && run.unkept) await keep(run.unkept.session);
    },

    leave: async () => {
      const { run } = get();
      if (isLive(run)) return;
      set({ run: { state: "none" }, announcement: "" });
      if (run.state === "prepared") await run.session.close({ keepCheckpoint: false });
      if (run.state === "done" && run.unkept) await run.unkept.session.close();
    },

    goOn: async (name) => {
      set({ run: { state: "preparing" }, announcement: "" });
      try {
        const model = openModel();
        const session = await TrainingSession.resume(model, name, { onEvent });
        await drive(session, {
          name,
          base: baseOf(model),
          last: null,
          curve: until(keptCurves.load(name), session.step),
          rehearsed: null,
        });
      } catch (error) {
        await fail(error);
      }
    },

    giveUp: async (name) => {
      await TrainingSession.deleteSaved(name);
      keptCurves.forget(name);
      await get().refresh();
    },
  };
});
