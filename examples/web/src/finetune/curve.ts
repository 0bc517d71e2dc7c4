/** A run's losses, one for each stretch of steps. */
export interface Curve {
  /** What the model was trained on: the mean over a stretch, at its last step. */
  train: readonly Point[];
  /** What was held out. */
  heldOut: readonly Point[];
  /** How many steps a point of train stands for. */
  stretch: number;
}

export interface Point {
  step: number;
  loss: number;
  /** Steps whose mean it is, where that is not one. */
  of?: number;
}

export const emptyCurve: Curve = { train: [], heldOut: [], stretch: 1 };

/** A plot has no more dots than this side by side; longer runs are drawn by means. */
const most = 600;

/** withStep adds a step's losses. */
export function withStep(
  { train, heldOut, stretch }: Curve,
  { step, loss, heldOutLoss }: { step: number; loss: number; heldOutLoss?: number },
): Curve {
  const last = train.at(-1);
  const open = last && (last.of ?? 1) < stretch;
  const grown = open ? [...train.slice(0, -1), joined(last, { step, loss })] : [...train, { step, loss }];
  const looked = heldOutLoss === undefined ? heldOut : [...heldOut, { step, loss: heldOutLoss }];
  return grown.length <= most
    ? { train: grown, heldOut: looked, stretch }
    : { train: halved(grown), heldOut: looked, stretch: stretch * 2 };
}

/** until forgets what came after a step: a run goes on from its last checkpoint. */
export function until(curve: Curve, step: number): Curve {
  return {
    ...curve,
    train: curve.train.filter((point) => point.step <= step),
    heldOut: curve.heldOut.filter((point) => point.step <= step),
  };
}

function joined(a: Point, b: Point): Point {
  const [first, second] = [a.of ?? 1, b.of ?? 1];
  return { step: b.step, loss: (a.loss * first + b.loss * second) / (first + second), of: first + second };
}

function halved(points: readonly Point[]): Point[] {
  const half: Point[] = [];
  for (let i = 0; i < points.length; i += 2) {
    const [a, b] = [points[i], points[i + 1]];
    if (a) half.push(b ? joined(a, b) : a);
  }
  return half;
}

const key = (name: string) => `gemwire.curve.${name}`;

/** Curves are kept over a reload with the runs that they belong to. */
export const keptCurves = {
  save: (name: string, curve: Curve): void => {
    try {
      localStorage.setItem(key(name), JSON.stringify(curve));
    } catch {
      // Without room for it, a run that goes on begins its plot anew.
    }
  },
  load: (name: string): Curve => {
    const saved = localStorage.getItem(key(name));
    return saved === null ? emptyCurve : (JSON.parse(saved) as Curve);
  },
  forget: (name: string): void => localStorage.removeItem(key(name)),
};
