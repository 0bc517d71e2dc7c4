// Runs one Go test binary: {wasm, argv, env, cwd}. It posts {line} for each
// line of output and {code} at the end.
"use strict";
importScripts("/files.js", "/wasm_exec.js", "/calls.js");

onmessage = async ({ data: { wasm, argv, env, cwd } }) => {
  let code = 0;
  globalThis.process.chdir(cwd);
  globalThis.fs.printed = (line) => postMessage({ line });
  const go = new Go();
  go.argv = argv;
  go.env = env;
  go.exit = (given) => {
    code = given;
  };
  countCalls(go);
  try {
    const { link } = await import("/kernels/link.js");
    const kernels = await link(await (await fetch("/kernels.wasm")).arrayBuffer());
    const { instance } = await WebAssembly.instantiateStreaming(fetch(wasm), {
      ...go.importObject,
      ...kernels.imports,
    });
    kernels.bind(instance.exports.mem);
    await go.run(instance);
  } catch (error) {
    postMessage({ line: `worker: ${error.stack ?? error}` });
    code = 2;
  }
  postMessage({ code });
};
