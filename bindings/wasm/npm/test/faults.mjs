// A file server with faults, one for each way in which servers on the internet
// misbehave. The path is /FAULT/KEY/NAME: each key has a history of its own.
// NAME is a file of a folder, or any other name for the one that is served.
import { open, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { listen } from "../../browsertest/server.mjs";

const MiB = 1 << 20;

// Each fault may change what is sent: {size, etag, status, first, last, cut, stall, slow}.
// n counts the requests for the key, from 1 on.
const faults = {
  good: () => {},
  // Sends everything, whatever was asked for.
  noranges: (a) => {
    a.ranges = false;
  },
  // The same, of a file that is too large to be taken whole.
  huge: (a) => {
    a.ranges = false;
    a.declared = 5000 * MiB;
    a.cut = 4 * MiB;
  },
  // Is another version from the fourth request on, and in no hurry before.
  changes: (a, n) => {
    if (n > 3) a.etag = '"other"';
    else a.slow = 8 * MiB;
  },
  // Breaks the connection after half a mebibyte, every time.
  breaks: (a) => {
    a.cut = MiB / 2;
  },
  // Breaks the second request's connection, and every other one after it.
  stutters: (a, n) => {
    if (n % 2 === 0) a.cut = 100_000;
  },
  // Stops in the middle, without a word, of the second request only.
  pauses: (a, n) => {
    if (n === 2) a.stall = 100_000;
  },
  stalls: (a, n) => {
    if (n > 1) a.stall = 0;
  },
  // Tells no size.
  sizeless: (a) => {
    a.ranges = a.sized = false;
  },
  // Claims to be larger than it is.
  liesmore: (a) => {
    a.total = a.size + MiB;
  },
  // Claims to be smaller than it is, and sends everything asked for.
  liesless: (a) => {
    a.total = a.size - MiB;
  },
  // Sends another part than was asked for.
  shifts: (a, n) => {
    if (n > 1) {
      a.first += 7;
      a.last = Math.min(a.last + 7, a.size - 1);
    }
  },
  slow: (a) => {
    a.slow = 2 * MiB;
  },
  missing: (a) => {
    a.status = 404;
  },
  forbidden: (a) => {
    a.status = 403;
  },
  busy: (a, n) => {
    if (n % 3 !== 0) a.status = 503;
  },
  notgguf: (a) => {
    a.text = "<!doctype html><title>Log in</title>";
  },
};

/** serveFaults serves one file, and a folder; it returns {url(fault, key, name), requests, close}. */
export async function serveFaults(file, folder) {
  const counts = new Map();
  const requests = [];
  const { url: base, close } = await listen((request, response) => {
    answer({ file, folder }, counts, requests, request, response).catch(() => response.destroy());
  });
  let keys = 0;
  return {
    requests,
    url: (fault, key = `k${++keys}`, name = "model.gguf") => `${base}/${fault}/${key}/${name}`,
    close,
  };
}

// fileOf is the file of that name in the folder, or the one that stands for all others.
async function fileOf({ file, folder }, name) {
  if (!/^nano-\d{5}-of-|^nano-(text|mmproj)/.test(name)) return file;
  const path = join(folder, basename(name));
  return stat(path).then(
    () => path,
    () => null,
  );
}

async function answer(from, counts, requests, request, response) {
  const cors = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "Range, Authorization",
    "Access-Control-Expose-Headers": "Content-Range, ETag, Accept-Ranges",
    "Cross-Origin-Resource-Policy": "cross-origin",
  };
  if (request.method === "OPTIONS") return response.writeHead(204, cors).end();
  const [, fault, key, name] = new URL(request.url, "http://localhost").pathname.split("/");
  const n = (counts.get(key) ?? 0) + 1;
  counts.set(key, n);
  requests.push({
    fault,
    key,
    name,
    range: request.headers.range ?? "",
    authorization: request.headers.authorization ?? "",
  });
  const file = await fileOf(from, name);
  if (!file) return response.writeHead(404, cors).end();
  const { size } = await stat(file);
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
  const a = {
    size,
    total: size,
    ranges: true,
    status: 200,
    etag: '"one"',
    text: "",
    first: range ? Number(range[1]) : 0,
    last: range?.[2] ? Number(range[2]) : size - 1,
  };
  a.last = Math.min(a.last, size - 1);
  faults[fault](a, n);
  if (a.status !== 200) return response.writeHead(a.status, cors).end();
  if (a.text) return response.writeHead(200, { ...cors, "Content-Type": "text/html" }).end(a.text);
  if (a.first > a.last) return response.writeHead(416, { ...cors, "Content-Range": `bytes */${a.total}` }).end();
  const partial = range && a.ranges;
  if (!partial) [a.first, a.last] = [0, size - 1];
  response.writeHead(partial ? 206 : 200, {
    ...cors,
    ETag: a.etag,
    "Content-Type": "application/octet-stream",
    ...(a.sized !== false && { "Content-Length": a.declared ?? a.last - a.first + 1 }),
    ...(partial && { "Content-Range": `bytes ${a.first}-${a.last}/${a.total}` }),
  });
  response.flushHeaders();
  await send(file, a, response);
}

// once waits for the first of two events.
function once(emitter, one, other) {
  return new Promise((resolve) => {
    const heard = () => {
      emitter.off(one, heard).off(other, heard);
      resolve();
    };
    emitter.on(one, heard).on(other, heard);
  });
}

async function send(file, a, response) {
  const handle = await open(file);
  try {
    let sent = 0;
    for (let at = a.first; at <= a.last;) {
      const most = Math.min(64 << 10, a.last + 1 - at, (a.cut ?? Infinity) - sent, (a.stall ?? Infinity) - sent);
      if (most <= 0) {
        if (a.cut === undefined) return; // stalled: the connection stays open
        await new Promise((resolve) => setTimeout(resolve, 100)); // what was sent shall arrive
        return response.destroy();
      }
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(most), 0, most, at);
      if (response.destroyed) return;
      if (!response.write(buffer.subarray(0, bytesRead))) await once(response, "drain", "close");
      if (a.slow) await new Promise((resolve) => setTimeout(resolve, (1000 * bytesRead) / a.slow));
      at += bytesRead;
      sent += bytesRead;
    }
    response.end();
  } finally {
    await handle.close();
  }
}
