import { beforeEach, describe, expect, it, vi } from "vitest";
import { withStorage } from "../../test/storage";

/** What is saved, as another version of the app may have left it. */
async function savedAs(settings: object) {
  withStorage();
  vi.stubGlobal("window", globalThis); // where settings are read from
  localStorage.setItem("gemwire.settings", JSON.stringify({ state: settings, version: 1 }));
  vi.resetModules();
  return import("./settingsStore");
}

describe("how the context is kept", () => {
  beforeEach(withStorage);

  it("is in 16 bits unless somebody has chosen otherwise", async () => {
    const { planOptions, useSettings } = await savedAs({ context: 4096, device: "gpu" });
    expect(planOptions(useSettings.getState())).toEqual({ device: "gpu", context: 4096, kvCache: "f16" });
    useSettings.getState().set({ kvCache: "q8", context: null, memoryBudget: 2e9 });
    expect(planOptions(useSettings.getState())).toEqual({ device: "gpu", memoryBudget: 2e9, kvCache: "q8" });
  });

  it.each([
    ["q8", "q8"],
    ["f16", "f16"],
    ["q4", "f16"],
    [null, "f16"],
  ])("saved as %j is %s", async (saved, kept) => {
    const { useSettings } = await savedAs({ kvCache: saved });
    expect(useSettings.getState().kvCache).toBe(kept);
  });
});

it("opens a model with what is set, and says so", async () => {
  const { useSettings } = await savedAs({ kvCache: "q8" });
  const { useEngine } = await import("../engine/engineStore");
  const { memoryText } = await import("../models/planText");
  await useEngine.getState().open({ kind: "builtin" });
  const { engine } = useEngine.getState();
  if (engine.state !== "ready" || !engine.model.info.plan) throw new Error(engine.state);
  expect(engine.model.info.kvCache).toBe("q8");
  expect(memoryText(engine.model.info.plan)).toContain("8,192 tokens of context in 8 bits");
  useSettings.getState().set({ kvCache: "f16" });
  await useEngine.getState().reopen();
  const again = useEngine.getState().engine;
  expect(again.state === "ready" && again.model.info.kvCache).toBe("f16");
  await useEngine.getState().close();
});
