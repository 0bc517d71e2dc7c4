import * as gemwire from "/dist/index.js";
globalThis.gemwire = gemwire;
