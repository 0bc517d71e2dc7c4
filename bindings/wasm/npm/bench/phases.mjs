// Tells what the phases of a model's load take, in a page and in Node alike.

/**
 * timed has load, which is given an onProgress, load a model. It resolves to the model and
 * to the milliseconds of all and of each phase; first is the phase until the package
 * tells of one. left is told of each phase that ends, at its end.
 */
export async function timed(load, { first = "start", left = () => {} } = {}) {
  const phases = {},
    begun = performance.now();
  let phase = first,
    last = begun;
  const enter = (next) => {
    const now = performance.now();
    phases[phase] = (phases[phase] ?? 0) + now - last;
    if (next !== phase) left(phase);
    [phase, last] = [next, now];
  };
  const model = await load((progress) => enter(progress.phase));
  enter("end");
  return { model, ms: last - begun, phases };
}
