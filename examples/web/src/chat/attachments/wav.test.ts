import { describe, expect, it } from "vitest";
import { trimmed, wavOf } from "./wav";

const tone = (length: number) => Float32Array.from({ length }, (_, i) => 0.5 * Math.sin(i));

describe("recordings", () => {
  it("are WAV files of 16 bits", async () => {
    const bytes = await wavOf(Float32Array.of(0, 0.5, -1, 2), 48_000).arrayBuffer();
    const view = new DataView(bytes);
    expect(new TextDecoder().decode(bytes.slice(0, 16))).toBe("RIFF\x2c\0\0\0WAVEfmt ");
    expect([
      view.getUint16(20, true),
      view.getUint16(22, true),
      view.getUint32(24, true),
      view.getUint16(34, true),
      view.getUint32(40, true),
    ]).toEqual([1, 1, 48_000, 16, 8]);
    expect([...new Int16Array(bytes.slice(44))]).toEqual([0, 16_384, -32_768, 32_767]);
  });

  it("lose the silence at both ends, but for a tenth of a second", () => {
    const samples = new Float32Array(30_000);
    samples.set(tone(5000), 10_000);
    const kept = trimmed(samples, 10_000);
    expect(kept.length).toBeGreaterThan(6990);
    expect(kept.length).toBeLessThan(7010);
    expect(kept.slice(1000, 1100)).toEqual(samples.slice(10_001, 10_101));
  });

  it.each([
    ["silence alone", new Float32Array(100)],
    ["speech alone", tone(100)],
    ["nothing", new Float32Array(0)],
  ])("stay as they are: %s", (_, samples) => {
    expect(trimmed(samples, 1000).length).toBeGreaterThanOrEqual(samples.length - 1);
  });
});
