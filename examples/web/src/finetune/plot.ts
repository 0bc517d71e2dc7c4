// The geometry of the loss plot. Lengths are in the units of its viewBox.
import type { Curve, Point } from "./curve";

export const size = { width: 640, height: 240, left: 58, right: 12, top: 12, bottom: 40 };

export interface Tick {
  at: number;
  label: string;
}

export interface Plot {
  train: string;
  heldOut: string;
  /** Where held-out losses were looked at. */
  marks: { x: number; y: number }[];
  xTicks: Tick[];
  yTicks: Tick[];
  /** Losses differ so much that they are drawn by their magnitude. */
  logarithmic: boolean;
}

/** Losses that lie further apart than this, from least to largest, are drawn by their magnitude. */
const wide = 30;
const smallest = 1e-6;
/** A plot of nothing is not magnified. */
const leastTop = 1e-3;

/** plotOf lays the curves of a run out over all of its steps. */
export function plotOf(curve: Curve, steps: number): Plot {
  const [train, heldOut] = [curve.train, curve.heldOut].map((points) =>
    points.filter(({ loss }) => Number.isFinite(loss)),
  ) as [Point[], Point[]];
  const losses = [...train, ...heldOut].map(({ loss }) => loss);
  const high = Math.max(...losses, smallest);
  const low = Math.max(Math.min(...losses), smallest);
  const logarithmic = losses.length > 1 && high / low > wide;
  const scale = logarithmic ? magnitudes(low, high) : amounts(Math.max(high, leastTop));
  const place = ({ step, loss }: Point) => ({ x: xOf(step, steps), y: yOf(scale.share(Math.max(loss, smallest))) });
  return {
    train: pathOf(train.map(place)),
    heldOut: pathOf(heldOut.map(place)),
    marks: heldOut.map(place),
    xTicks: ticksUpTo(steps).map((step) => ({ at: xOf(step, steps), label: step.toLocaleString("en") })),
    yTicks: scale.ticks.map((loss) => ({ at: yOf(scale.share(loss)), label: lossLabel(loss) })),
    logarithmic,
  };
}

const xOf = (step: number, steps: number) =>
  size.left + ((size.width - size.left - size.right) * step) / Math.max(steps, 1);
const yOf = (share: number) => size.height - size.bottom - (size.height - size.top - size.bottom) * share;

const pathOf = (points: readonly { x: number; y: number }[]) =>
  points.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

interface Scale {
  /** 0 at the bottom, 1 at the top. */
  share: (loss: number) => number;
  ticks: number[];
}

function amounts(high: number): Scale {
  const step = niceStep(high / 4);
  const top = Math.ceil(high / step) * step;
  return { share: (loss) => loss / top, ticks: Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step) };
}

function magnitudes(low: number, high: number): Scale {
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  return {
    share: (loss) => (Math.log10(loss) - from) / Math.max(to - from, 1),
    ticks: Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i)),
  };
}

/** niceStep is the least of 1, 2, 5 times a power of ten that is not smaller. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((digit) => digit * power >= least * (1 - 1e-9)) ?? 10);
}

function ticksUpTo(steps: number): number[] {
  const step = Math.max(1, niceStep(Math.max(steps, 1) / 6));
  return Array.from({ length: Math.floor(steps / step) + 1 }, (_, i) => i * step);
}

/** lossLabel writes a loss with what can be told of it: 9.1, 0.42, 0.0012. */
export function lossLabel(loss: number): string {
  if (!Number.isFinite(loss)) return "not a number";
  if (loss === 0 || loss >= 10) return String(Number(loss.toFixed(1)));
  const rounded = Number(loss.toPrecision(loss >= 1 ? 3 : 2));
  return rounded < 1e-4 ? rounded.toExponential(0) : String(rounded);
}
