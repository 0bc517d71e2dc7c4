import * as gemwire from "/dist/index.js";
import { nano } from "/dist/nano.js";
globalThis.gemwire = { ...gemwire, nano };
