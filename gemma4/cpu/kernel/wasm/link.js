// Connects the kernels with a Go program compiled with the tag gemwire_simd.
// Go wants its imports before it has a memory, and the kernels want the memory:
// so Go gets functions that call what comes later.
//
//   const kernels = await link(bytes);
//   const { instance } = await WebAssembly.instantiate(program, { ...go.importObject, ...kernels.imports });
//   kernels.bind(instance.exports.mem);
//   go.run(instance);

/** link compiles the kernels; it fails where the page's policy lets no WebAssembly be compiled, or it has no SIMD. */
export async function link(bytes) {
  const module = await WebAssembly.compile(bytes).catch((cause) => {
    if (/Content.Security.Policy|unsafe-eval|disallowed by embedder/i.test(cause?.message)) {
      throw new Error(
        "the page's Content-Security-Policy does not allow WebAssembly: add 'wasm-unsafe-eval' to its script-src",
        { cause },
      );
    }
    throw new Error("this browser's WebAssembly has no SIMD: use a current Chrome, Edge, Safari or Firefox", { cause });
  });
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  const binders = [];
  const late = (name) => {
    let call;
    binders.push((exports) => {
      call = exports[name];
    });
    // No kernel takes more than eight numbers.
    return (a, b, c, d, e, f, g, h) => call(a, b, c, d, e, f, g, h);
  };
  return {
    imports: { gemwire_simd: Object.fromEntries(names.map((name) => [name, late(name)])) },
    bind(memory) {
      const { exports } = new WebAssembly.Instance(module, { env: { memory } });
      for (const set of binders) set(exports);
    },
  };
}
