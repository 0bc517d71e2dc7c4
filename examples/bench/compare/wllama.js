// wllama, llama.cpp for the browser, through its npm package.
import { LoggerWithoutDebug, Wllama } from "/wllama/index.js";

export async function load({ url, context, threads }) {
  const logger = { ...LoggerWithoutDebug, log() {}, warn() {} };
  const model = new Wllama({ default: "/wllama/wasm/wllama.wasm" }, { logger, suppressNativeLog: true });
  await model.loadModelFromUrl(url, { n_ctx: context, useCache: false, ...(threads && { n_threads: threads }) });
  return {
    info: {
      device: "cpu",
      deviceName: `${model.isMultithread() ? "several threads" : "single thread"}: ${model.getNumThreads()}`,
      llama: Wllama.getLibllamaVersion(),
    },
    async answer(prompt, tokens, onText) {
      let text = "",
        timings,
        usage;
      // What gemwire makes of a user's message; the token that begins a text is wllama's own.
      const stream = await model.createCompletion({
        prompt: `<|turn>user\n${prompt}<turn|>\n<|turn>model\n`,
        max_tokens: tokens,
        temperature: 0,
        stream: true,
        cache_prompt: false,
        timings_per_token: true,
      });
      for await (const chunk of stream) {
        const part = chunk.choices[0]?.text ?? "";
        if (part) onText();
        text += part;
        timings = chunk.timings ?? timings;
        usage = chunk.usage ?? usage;
      }
      return {
        text,
        tokens: timings?.predicted_n ?? usage?.completion_tokens,
        promptTokens: timings?.prompt_n,
        ownMsPerToken: timings?.predicted_per_token_ms,
      };
    },
  };
}
