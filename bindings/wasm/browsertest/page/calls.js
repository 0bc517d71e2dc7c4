// Counts the calls that a Go program makes to JavaScript: goCalls.js are those
// of syscall/js, a callback's own included; goCalls.runtime those of Go's
// runtime (clocks, timers, random numbers; values that its collector lets go of, all
// at once whenever it runs).
"use strict";

globalThis.goCalls = { js: 0, runtime: 0, byName: {} };

function countCalls(go) {
  const imports = go.importObject.gojs;
  for (const [name, call] of Object.entries(imports)) {
    const kind = name.startsWith("syscall/js.") && name !== "syscall/js.finalizeRef" ? "js" : "runtime";
    goCalls.byName[name] = 0;
    imports[name] = (sp) => {
      goCalls[kind]++;
      goCalls.byName[name]++;
      return call(sp);
    };
  }
}
