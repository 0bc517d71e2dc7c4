import { describe, expect, it } from "vitest";
import { parseServed } from "./localServer";
import { directAddress, speedometer } from "./storedModels";

describe("what a server says it has", () => {
  it("resolves addresses against the server", () => {
    const [model] = parseServed([{ name: "a", from: "folder", url: "/models/a.gguf", size: 5 }], "http://192.168.0.7:8080/");
    expect(model).toEqual({ name: "a", from: "folder", url: "http://192.168.0.7:8080/models/a.gguf", size: 5, sha256: null, parts: 1 });
  });

  it.each([[null], [{}], ["x"]])("refuses %j", (value) => {
    expect(() => parseServed(value, "http://a/")).toThrow();
  });

  it("leaves out what is no model", () => {
    const bad = [null, 1, { name: "a" }, { name: "a", url: "javascript:alert(1)", size: 1 }, { name: "a", url: "/x", size: -1 }, { name: "a", url: "/x", size: "1" }];
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
