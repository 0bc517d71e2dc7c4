// gemwire, through its npm package.
import { Model } from "/gemwire/index.js";

export async function load({ url, device, context, inPage }) {
  const busy = inPage ? watchGPU() : null;
  const model = await Model.load(url, { device, context, worker: !inPage });
  const { device: on, deviceName, fallback } = model.info;
  return {
    info: { device: on, deviceName, fallback },
    async answer(prompt, tokens, onText) {
      await model.reset(); // no prompt is taken from the cache
      let text = "",
        usage;
      for await (const event of model.chat([{ role: "user", content: prompt }], {
        temperature: 0,
        maxTokens: tokens,
      })) {
        if (event.type === "text") {
          onText();
          text += event.text;
        }
        if (event.type === "done") ({ usage } = event);
      }
      return { text, tokens: usage.answerTokens, promptTokens: usage.promptTokens };
    },
    beforeAnswer: () => busy?.clear(),
    afterAnswer: (from, to) => (busy ? { outsideGPU: 1 - busy.share(from, to) } : {}),
  };
}

// watchGPU notes from when to when the page's queue had work that it had not
// finished, as the browser tells.
function watchGPU() {
  let spans = [];
  const { submit } = GPUQueue.prototype;
  GPUQueue.prototype.submit = function (buffers) {
    const span = [performance.now(), Infinity];
    spans.push(span);
    submit.call(this, buffers);
    void this.onSubmittedWorkDone().then(() => {
      span[1] = performance.now();
    });
  };
  return {
    clear: () => {
      spans = [];
    },
    share(from, to) {
      let covered = 0,
        reached = from;
      for (const [begun, end] of spans) {
        // in the order in which they began
        const last = Math.min(end, to);
        covered += Math.max(0, last - Math.max(begun, reached));
        reached = Math.max(reached, last);
      }
      return covered / (to - from);
    },
  };
}
