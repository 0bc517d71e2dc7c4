import { beforeEach, expect, it, vi } from "vitest";
import { useToasts } from "./toasts";

const texts = () => useToasts.getState().toasts.map(({ text }) => text);

beforeEach(() => {
  vi.useFakeTimers();
  useToasts.setState({ toasts: [] });
});

it("are two at most, the newest, and none twice", () => {
  const { show, warn } = useToasts.getState();
  for (const text of ["one", "two", "three"]) show(text);
  expect(texts()).toEqual(["two", "three"]);
  warn("two");
  expect(texts()).toEqual(["three", "two"]);
});

it("go by themselves, warnings and choices later", () => {
  const { show, warn } = useToasts.getState();
  show("note");
  warn("warning");
  vi.advanceTimersByTime(6000);
  expect(texts()).toEqual(["warning"]);
  show("choice", { label: "Undo", run: () => undefined });
  vi.advanceTimersByTime(7000);
  expect(texts()).toEqual(["choice"]);
  vi.advanceTimersByTime(6000);
  expect(texts()).toEqual([]);
});
