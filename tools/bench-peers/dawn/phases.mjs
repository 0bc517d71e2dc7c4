/**
 * timed has load, which is given an onProgress, load a model, and tells how long each
 * phase took by the clock and, in milliseconds too, by another measure of time.
 */
export async function timed(load, measure = () => 0) {
  const phases = {}, begun = performance.now();
  let phase = "start", [last, spent] = [begun, measure()];
  const enter = (next) => {
    const [now, taken] = [performance.now(), measure()];
    const sum = phases[phase] ??= { ms: 0, cpu: 0 };
    sum.ms += now - last;
    sum.cpu += taken - spent;
    [phase, last, spent] = [next, now, taken];
  };
  const model = await load(({ phase }) => enter(phase));
  enter("end");
  return { model, seconds: (last - begun) / 1000, phases };
}
