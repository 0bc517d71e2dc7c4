/** Quieter than this share of the loudest sample counts as silence. */
const silence = 0.02;
/** What is left of the silence at either end, in seconds. */
const margin = 0.1;

/** trimmed cuts the silence off both ends: from the press of the button to the first word, and back. */
export function trimmed(samples: Float32Array, rate: number): Float32Array {
  const loudest = samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const loud = (value: number) => Math.abs(value) > loudest * silence;
  const first = samples.findIndex(loud);
  if (first < 0) return samples;
  const last = samples.findLastIndex(loud);
  const room = Math.round(margin * rate);
  return samples.slice(Math.max(0, first - room), last + room);
}

/** wavOf writes samples, −1 to 1, of one channel as a WAV file of 16 bits. */
export function wavOf(samples: Float32Array, rate: number): Blob {
  const bytes = samples.length * 2;
  const view = new DataView(new ArrayBuffer(44 + bytes));
  const text = (at: number, letters: string) =>
    new TextEncoder().encode(letters).forEach((code, i) => view.setUint8(at + i, code));
  text(0, "RIFF");
  view.setUint32(4, 36 + bytes, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, bytes, true);
  samples.forEach((value, i) =>
    view.setInt16(44 + 2 * i, Math.max(-32768, Math.min(32767, Math.round(value * 32768))), true),
  );
  return new Blob([view], { type: "audio/wav" });
}
