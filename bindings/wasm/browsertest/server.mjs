// Serves folders of this machine on localhost, for tests alone: each mount is
// a prefix of the path and the folder, or single file, behind it.
//
//   GET /prefix/file            its bytes, or a range of them
//   GET /prefix/path?stat       {size, folder}
//   GET /prefix/folder?list     the names in it
import { createReadStream } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";

const types = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

// serve serves the mounts and returns {url, close}.
export function serve(mounts, { headers = {} } = {}) {
  const sorted = Object.entries(mounts).sort(([a], [b]) => b.length - a.length);
  return listen((request, response) => {
    answer(sorted, headers, request, response).catch((error) => {
      response.writeHead(error.code === "ENOENT" ? 404 : 500).end(String(error.code ?? error));
    });
  });
}

// listen has a handler answer on a free port of localhost and returns {url, close}.
export async function listen(handler) {
  const server = createServer(handler);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://localhost:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(mounts, headers, request, response) {
  const url = new URL(request.url, "http://localhost");
  const path = await resolve(mounts, decodeURIComponent(url.pathname));
  const info = await stat(path);
  const common = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    ...headers,
  };
  const json = (value) =>
    response.writeHead(200, { ...common, "Content-Type": types[".json"] }).end(JSON.stringify(value));
  if (url.searchParams.has("stat")) return json({ size: info.size, folder: info.isDirectory() });
  if (url.searchParams.has("list")) return json((await readdir(path)).sort());
  if (info.isDirectory()) throw Object.assign(new Error("a folder"), { code: "ENOENT" });
  sendFile(path, info.size, common, request, response);
}

// resolve finds what a path of the server names, and nothing outside the mounts.
async function resolve(mounts, path) {
  for (const [prefix, root] of mounts) {
    if (path !== prefix && !path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`)) continue;
    const base = await realpath(root);
    const inside = path.slice(prefix.length);
    const file = inside ? await realpath(join(base, normalize(inside))) : base;
    if (file === base || file.startsWith(base + sep)) return file;
  }
  throw Object.assign(new Error(path), { code: "ENOENT" });
}

function sendFile(path, size, headers, request, response) {
  const type = types[extname(path)] ?? "application/octet-stream";
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
  const first = range ? Number(range[1]) : 0;
  const last = range?.[2] ? Math.min(Number(range[2]), size - 1) : size - 1;
  if (range && first > last) {
    response.writeHead(416, { ...headers, "Content-Range": `bytes */${size}` }).end();
    return;
  }
  const partial = range ? { "Content-Range": `bytes ${first}-${last}/${size}` } : {};
  response.writeHead(range ? 206 : 200, {
    ...headers,
    ...partial,
    "Accept-Ranges": "bytes",
    "Content-Type": type,
    "Content-Length": last - first + 1,
  });
  if (request.method === "HEAD" || size === 0) response.end();
  else createReadStream(path, { start: first, end: last }).pipe(response);
}
