import { GemwireError, type PlanResult } from "gemwire";
import { describe, expect, it, vi } from "vitest";
import { modelFailureOf } from "../engine/failure";
import { parseServed } from "./localServer";
import { judge } from "./lookBefore";
import { runsOn } from "./runsOn";
import { announcer, directAddress, speedometer } from "./storedModels";

const planned = (fits: boolean, weights: number): PlanResult => ({
  fits,
  plan: {
    device: "",
    tensors: [],
    weights,
    rows: 0,
    context: 8192,
    kvCache: "f16",
    cache: 0,
    activations: 0,
    budget: 0,
  },
});
const room = (free: number) => ({ usage: 1e9, quota: 1e9 + free, persisted: true });

describe("a look before a download", () => {
  it.each<[string, PlanResult, number | null, number, string]>([
    ["begins with what is small and fits", planned(true, 1e7), null, 1e9, "go"],
    ["asks before gigabytes", planned(true, 3e9), null, 9e9, "ask"],
    ["goes by the size that the server says", planned(true, 1e7), 3e9, 9e9, "ask"],
    ["asks before what is too large for the device", planned(false, 1e7), null, 1e9, "ask"],
    ["refuses what the storage has no room for", planned(true, 3e9), null, 2e9, "refuse"],
  ])("%s", (_, plan, size, free, verdict) => {
    expect(judge(plan, size, room(free)).verdict).toBe(verdict);
  });

  it("asks nothing of a browser that does not tell its room", () => {
    expect(judge(planned(true, 1e7), null, { usage: 0, quota: 0, persisted: false }).verdict).toBe("go");
  });

  it("says how much is missing", () => {
    const look = judge(planned(true, 1e7), 3e9, room(2e9));
    expect(look.verdict === "refuse" && look.failure.sentence).toBe(
      "The model has 3.0 GB, and the browser's storage has room for 2.0 GB.",
    );
  });
});

it("the engine's words are details, never the sentence", () => {
  vi.stubGlobal("navigator", { onLine: true });
  const said = 'gguf: header at byte 8: load with the device "gpu"';
  for (const code of ["bad-file", "no-webgpu", "unsupported", "network", "internal", "bad-argument"] as const) {
    const { sentence, advice, details } = modelFailureOf(new GemwireError(code, said, { advice: said }));
    expect(`${sentence} ${advice}`).not.toMatch(/byte|device "gpu"|undefined/);
    expect(sentence).toMatch(/\.$/);
    expect(details).toBe(said);
  }
  vi.stubGlobal("navigator", { onLine: false });
  expect(modelFailureOf(new GemwireError("network", said)).sentence).toBe("This device is offline.");
  vi.unstubAllGlobals();
});

it("says why a model does not run on the GPU, in a reader's words", () => {
  const why = 'no usable GPU: swiftshader is slower than the CPU; load with the device "gpu" to use it all the same';
  expect(runsOn({ deviceName: "CPU", fallback: why })).toBe("CPU: no usable GPU: swiftshader is slower than the CPU");
  expect(runsOn({ deviceName: "llvmpipe" })).toBe("llvmpipe");
});

it("tells of a transfer at its beginning and at each quarter, once", () => {
  const told: string[] = [];
  const steps = announcer("a.gguf", (sentence) => told.push(sentence));
  for (const done of [0, 10, 24, 26, 30, 80, 99, 100]) steps(done, 100);
  expect(told).toEqual(["a.gguf is being copied to this device.", "a.gguf: 25 %.", "a.gguf: 75 %."]);
});

describe("what a server says it has", () => {
  it("resolves addresses against the server", () => {
    const [model] = parseServed(
      [{ name: "a", from: "folder", url: "/models/a.gguf", size: 5 }],
      "http://192.168.0.7:8080/",
    );
    expect(model).toEqual({
      name: "a",
      from: "folder",
      url: "http://192.168.0.7:8080/models/a.gguf",
      size: 5,
      sha256: null,
      parts: 1,
    });
  });

  it.each([[null], [{}], ["x"]])("refuses %j", (value) => {
    expect(() => parseServed(value, "http://a/")).toThrow();
  });

  it("leaves out what is no model", () => {
    const bad = [
      null,
      1,
      { name: "a" },
      { name: "a", url: "javascript:alert(1)", size: 1 },
      { name: "a", url: "/x", size: -1 },
      { name: "a", url: "/x", size: "1" },
    ];
    expect(parseServed(bad, "http://a/")).toEqual([]);
  });
});

it.each([
  ["https://huggingface.co/a/b/blob/main/c.gguf", "https://huggingface.co/a/b/resolve/main/c.gguf"],
  [" https://hf.co/a/b/blob/x/c.gguf ", "https://hf.co/a/b/resolve/x/c.gguf"],
  ["https://example.org/a/b/blob/main/c", "https://example.org/a/b/blob/main/c"],
])("%s is at %s", (page, file) => {
  expect(directAddress(page)).toBe(file);
});

it("measures speed over the last seconds", () => {
  let time = 0;
  const speed = speedometer(() => time);
  expect(speed(0)).toBe(0);
  time = 1000;
  expect(speed(500)).toBe(500);
  time = 10_000;
  expect(speed(1000)).toBe(0);
  time = 11_000;
  expect(speed(3000)).toBe(2000);
});
