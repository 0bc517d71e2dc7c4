import { expect, it } from "vitest";
import { bytes, count, counted } from "./format";

it("groups digits as Intl does", () => {
  for (const value of [
    0,
    7,
    999,
    1000,
    12345,
    999_999,
    1_000_000,
    -1234,
    Number.MAX_SAFE_INTEGER,
    1e21,
    0.5,
    1234.5678,
  ])
    expect(count(value)).toBe(value.toLocaleString("en"));
  expect(counted(1, "chat")).toBe("1 chat");
  expect(counted(2000, "chat")).toBe("2,000 chats");
});

it("writes sizes in decimal units", () => {
  expect([0, 999, 1000, 12_548_000, 99_960_000, 14e9, -5].map(bytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "12.5 MB",
    "100 MB",
    "14.0 GB",
    "0 B",
  ]);
});
