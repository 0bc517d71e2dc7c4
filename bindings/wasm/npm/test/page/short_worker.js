// The package's worker on a GPU without enough memory.
import "./short_of_memory.js";
import "/dist/worker.js";
