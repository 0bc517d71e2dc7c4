// How long a model takes to come from a server that is far away, to the GPU.
//
//   node bench/latency.mjs [--latency MS] [--rate MB/s] [--repeats N] [FILE.gguf ...]
//
// Each request waits for the latency before its answer begins (50 ms if not
// given), and each connection sends at most so many megabytes a second. Shown
// are the least time until the last weight is on the GPU, the requests, and the
// bytes that the server sent.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { launch } from "../../browsertest/chromium.mjs";
import { serve } from "../../browsertest/server.mjs";

const npm = join(import.meta.dirname, "..");
const {
  values: { latency, rate, repeats },
  positionals,
} = parseArgs({
  allowPositionals: true,
  options: {
    latency: { type: "string", default: "50" },
    rate: { type: "string", default: "0" },
    repeats: { type: "string", default: "3" },
  },
});
const files = positionals.length ? positionals : [join(npm, "dist/nano.gguf")];
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const count = { requests: 0, bytes: 0 };
const site = await serve({ "/": join(npm, "test/page"), "/dist": join(npm, "dist") });
const far = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
await new Promise((resolve) => far.listen(0, "127.0.0.1", resolve));

async function answer(request, response) {
  const file = files[Number(request.url.slice(1))];
  const { size } = await stat(file);
  count.requests++;
  await wait(Number(latency));
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "bytes=0-");
  const first = Number(from),
    last = to ? Math.min(Number(to), size - 1) : size - 1;
  response.writeHead(206, {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "Range",
    "Access-Control-Expose-Headers": "Content-Range, ETag",
    "Access-Control-Max-Age": "600",
    "Cross-Origin-Resource-Policy": "cross-origin",
    ETag: '"1"',
    "Content-Range": `bytes ${first}-${last}/${size}`,
    "Content-Length": last - first + 1,
  });
  if (request.method === "OPTIONS") return response.end();
  await pipeline(createReadStream(file, { start: first, end: last }), paced(), response);
}

function paced() {
  return new Transform({
    async transform(chunk, _, done) {
      count.bytes += chunk.length;
      if (Number(rate)) await wait(chunk.length / Number(rate) / 1000);
      done(null, chunk);
    },
  });
}

const browser = await launch();
try {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${site.url}/index.html`);
  await page.waitForFunction(() => globalThis.gemwire);
  console.log(`${latency} ms to the server${Number(rate) ? `, ${rate} MB/s a connection` : ""}`);
  for (const [index, file] of files.entries()) {
    let best = { ms: Infinity };
    for (let i = 0; i < Number(repeats); i++) {
      Object.assign(count, { requests: 0, bytes: 0 });
      const ms = await page.evaluate(load, `http://localhost:${far.address().port}/${index}`);
      if (ms < best.ms) best = { ms, ...count };
    }
    const { size } = await stat(file);
    console.log(
      `${file}: ${(size / 1e6).toFixed(0)} MB, weights there after ${(best.ms / 1000).toFixed(2)} s, ` +
        `${best.requests} requests, ${(best.bytes / 1e6).toFixed(0)} MB sent`,
    );
  }
} finally {
  await browser.close();
  await site.close();
  far.closeAllConnections();
  far.close();
}

// load runs in the page: milliseconds until the last weight was there.
async function load(url) {
  const begun = performance.now();
  let weights = 0;
  const model = await gemwire.Model.load(url, {
    device: "gpu",
    context: 512,
    onProgress: ({ phase }) => {
      if (phase === "weights") weights = performance.now() - begun;
    },
  });
  await model.close();
  return weights;
}
