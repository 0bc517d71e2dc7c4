import { store } from "gemwire";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { withStorage } from "../../test/storage";

/** The engine with the built-in model open, whose storage holds an assistant and another file. */
async function opened(saved: object = {}) {
  withStorage();
  vi.stubGlobal("window", globalThis); // where settings are read from
  localStorage.setItem("gemwire.settings", JSON.stringify({ state: saved, version: 1 }));
  vi.resetModules();
  const { useEngine } = await import("./engineStore");
  const { useSettings } = await import("../settings/settingsStore");
  const { useToasts } = await import("../app/toasts");
  const { setAssistant, forgetAssistant } = await import("./assistants");
  await useEngine.getState().open({ kind: "builtin" });
  const guesser = () => {
    const { engine } = useEngine.getState();
    if (engine.state !== "ready") throw new Error(engine.state);
    return engine.model.info.assistant;
  };
  const choose = async (file: string | null) => {
    setAssistant("nano", file);
    await useEngine.getState().reopen();
  };
  return {
    choose,
    guesser,
    forgetAssistant,
    said: () => useToasts.getState().toasts.map(({ text }) => text),
    kept: () => useSettings.getState().assistants,
  };
}

describe("what guesses for a model", () => {
  beforeEach(withStorage);

  it("is nothing at first, then what was chosen, from load to load", async () => {
    const { choose, guesser, kept } = await opened();
    expect(guesser()).toBeUndefined();
    await choose("assistant.gguf");
    expect([guesser(), kept()]).toEqual(["assistant.gguf", { nano: "assistant.gguf" }]);
    const { guesser: later } = await opened({ assistants: kept() });
    expect(later()).toBe("assistant.gguf");
    await choose(null);
    expect([guesser(), kept()]).toEqual([undefined, {}]);
  });

  it("is let go of where it does not go with the model, which opens alone", async () => {
    const { guesser, said, kept } = await opened({ assistants: { nano: "other.gguf", e2b: "kept.gguf" } });
    expect([guesser(), kept()]).toEqual([undefined, { e2b: "kept.gguf" }]);
    expect(said()).toEqual(["other.gguf cannot guess for nano. other.gguf is no assistant."]);
  });

  it("is forgotten with its file", async () => {
    const { forgetAssistant, kept } = await opened({ assistants: { nano: "assistant.gguf", e2b: "other.gguf" } });
    forgetAssistant("assistant.gguf");
    expect(kept()).toEqual({ e2b: "other.gguf" });
  });

  it.each([
    [{ nano: 3, e2b: "a.gguf" }, { e2b: "a.gguf" }],
    [null, {}],
    ["x", {}],
  ])("saved as %j is %j", async (assistants, known) => {
    const { kept } = await opened({ assistants });
    expect(kept()).toEqual(known);
  });
});

it("goes with its file when that is deleted on the Models page", async () => {
  const { kept } = await opened({ assistants: { nano: "assistant.gguf" } });
  const { useStoredModels } = await import("../models/storedModels");
  await store.import([], { name: "assistant.gguf" });
  await useStoredModels.getState().remove("assistant.gguf");
  expect(kept()).toEqual({});
});
