// Serves a built app as `gemwire serve` does, and models with speeds and faults that a test chooses.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { Readable } from "node:stream";

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

/**
 * serve answers with the files of a folder, with /models (a list as gemwire serve gives it), with /models/NAME.gguf
 * (the given model, with ranges) and with /slow/NAME.gguf (the same at some 3 MB a second).
 */
export async function serve({ folder, model }) {
  const size = statSync(model).size;
  const requests = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/models")
      return json(response, [
        {
          name: "capitals:small",
          from: "folder",
          modified: "2026-01-01T00:00:00Z",
          url: "/models/capitals.gguf",
          size,
        },
      ]);
    const found = /^\/(models|slow)\/[\w.-]+\.gguf$/.exec(pathname);
    // The built-in model is the given one too: smaller, faster, with answers that stay when that one is trained anew.
    if (/\/nano-[\w-]+\.gguf$/.test(pathname))
      return sendModel(request, response, { path: model, size, bytesPerSecond: 0 });
    if (found) requests.push({ pathname, range: request.headers.range ?? "" });
    if (found)
      return sendModel(request, response, { path: model, size, bytesPerSecond: found[1] === "slow" ? 3e6 : 0 });
    sendFile(response, folder, pathname);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://localhost:${server.address().port}`,
    /** What was asked of models, in order. */
    requests,
    /** Breaks every connection off, as a network that goes away does. */
    cut: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}

function json(response, value) {
  response
    .writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-store" })
    .end(JSON.stringify(value));
}

function sendFile(response, folder, pathname) {
  const path = join(folder, normalize(pathname.endsWith("/") ? `${pathname}index.html` : pathname));
  try {
    const { size } = statSync(path);
    response.writeHead(200, {
      "Content-Type": types[extname(path)] ?? "application/octet-stream",
      "Content-Length": size,
      "Cache-Control": "no-cache",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Embedder-Policy": "require-corp",
    });
    createReadStream(path).pipe(response);
  } catch {
    response.writeHead(404).end();
  }
}

function sendModel(request, response, { path, size, bytesPerSecond }) {
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
  const start = range ? Number(range[1]) : 0;
  const end = range && range[2] !== "" ? Math.min(Number(range[2]), size - 1) : size - 1;
  response.writeHead(range ? 206 : 200, {
    "Content-Type": "application/octet-stream",
    "Content-Length": end - start + 1,
    "Accept-Ranges": "bytes",
    ETag: '"a-model"',
    ...(range ? { "Content-Range": `bytes ${start}-${end}/${size}` } : {}),
  });
  if (request.method === "HEAD") return response.end();
  const file = createReadStream(path, { start, end });
  if (bytesPerSecond === 0) return file.pipe(response);
  Readable.from(slowed(file, bytesPerSecond))
    .on("error", () => undefined)
    .pipe(response);
}

async function* slowed(file, bytesPerSecond) {
  for await (const chunk of file) {
    yield chunk;
    await new Promise((resolve) => setTimeout(resolve, (1000 * chunk.length) / bytesPerSecond));
  }
}
