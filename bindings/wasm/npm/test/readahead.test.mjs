// Reading ahead of a file on a server, over a server of a few lines.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "esbuild";

const MiB = 1 << 20;
const size = 70 * MiB + 12345;
let folder, ReadAhead, Blocks;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "gemwire-"));
  const outfile = join(folder, "readahead.mjs");
  const stdin = {
    contents: 'export * from "./read_ahead.ts"; export * from "./blocks.ts";',
    resolveDir: join(import.meta.dirname, "../src/worker"),
  };
  await build({ stdin, bundle: true, format: "esm", outfile, logLevel: "error" });
  ({ ReadAhead, Blocks } = await import(outfile));
});
after(() => rm(folder, { recursive: true }));

const byteAt = (at) => (at ^ (at >>> 8) ^ (at >>> 16) ^ (at >>> 24)) & 0xff;

/** remote is a file whose bytes tell where they are; it notes the requests. */
function remote({ fail = () => null } = {}) {
  const requests = [];
  let open = 0;
  return {
    size,
    requests,
    mostOpen: 0,
    async stream(first, length, signal, sink) {
      requests.push({ first, length });
      this.mostOpen = Math.max(this.mostOpen, ++open);
      try {
        for (let at = first; at < first + length;) {
          await new Promise((resolve) => setImmediate(resolve));
          if (signal.aborted) throw new Error("cancelled");
          const error = fail(at);
          if (error) throw error;
          const chunk = new Uint8Array(Math.min(65_000, first + length - at));
          for (let i = 0; i < chunk.length; i++) chunk[i] = byteAt(at + i);
          await sink(chunk);
          at += chunk.length;
        }
      } finally {
        open--;
      }
    },
  };
}

function check(bytes, offset, length) {
  assert.equal(bytes.length, length);
  for (const i of [0, 1, length >> 1, length - 1])
    if (i >= 0 && i < length) assert.equal(bytes[i], byteAt(offset + i), `byte ${offset + i}`);
}

// randoms repeats itself.
function* randoms(seed) {
  for (let x = seed; ;) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    yield x / 2 ** 32;
  }
}

test("any reads give the file's bytes, in requests of at most 8 MiB", async () => {
  const file = remote();
  const ahead = new ReadAhead(file, new Blocks());
  const random = randoms(7);
  const next = (n) => Math.floor(random.next().value * n);
  let at = 0;
  for (let i = 0; i < 300; i++) {
    if (next(4) === 0) at = next(size);
    const length = Math.min([1, 4096, 300_000, 2 * MiB, 8 * MiB][next(5)], size - at);
    check(await ahead.read(at, length), at, length);
    at = at + length < size ? at + length : 0;
  }
  assert.ok(
    file.requests.every(({ first, length }) => length <= 8 * MiB && first + length <= size),
    JSON.stringify(file.requests.find(({ length }) => length > 8 * MiB)),
  );
  assert.ok(file.mostOpen <= 8, `${file.mostOpen} at a time`);
});

test("a file that is read through is asked for once, and ahead of its reads", async () => {
  const file = remote();
  const ahead = new ReadAhead(file, new Blocks());
  for (let at = 0; at < size;) {
    const length = Math.min(3 * MiB, size - at);
    check(await ahead.read(at, length), at, length);
    at += length;
  }
  assert.equal(
    file.requests.reduce((sum, { length }) => sum + length, 0),
    size,
  );
  assert.ok(file.requests.length <= 24, `${file.requests.length} requests`);
});

test("a look at the beginning fetches little more than that", async () => {
  const file = remote();
  const ahead = new ReadAhead(file, new Blocks());
  check(await ahead.read(0, 100_000), 0, 100_000);
  check(await ahead.read(100_000, 500_000), 100_000, 500_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(file.requests.reduce((sum, { length }) => sum + length, 0) <= 2 * MiB, JSON.stringify(file.requests));
});

test("a row here and there costs a block each", async () => {
  const file = remote();
  const ahead = new ReadAhead(file, new Blocks());
  for (let i = 1; i <= 10; i++) check(await ahead.read(i * 6 * MiB, 18_000), i * 6 * MiB, 18_000);
  assert.ok(
    file.requests.length <= 10 && file.requests.every(({ length }) => length === 256 << 10),
    JSON.stringify(file.requests),
  );
});

test("what fails is told to whoever reads it, and read again later", async () => {
  let broken = true;
  const file = remote({ fail: (at) => (broken && at > 5 * MiB ? new Error("no more") : null) });
  const ahead = new ReadAhead(file, new Blocks());
  check(await ahead.read(0, 4 * MiB), 0, 4 * MiB);
  await assert.rejects(ahead.read(4 * MiB, 4 * MiB), /no more/);
  broken = false;
  check(await ahead.read(4 * MiB, 4 * MiB), 4 * MiB, 4 * MiB);
});

test("a cancelled read ends, and the next one goes on", async () => {
  const ahead = new ReadAhead(remote(), new Blocks());
  const reading = ahead.read(0, 8 * MiB);
  ahead.cancel();
  await assert.rejects(reading);
  check(await ahead.read(MiB, MiB), MiB, MiB);
  ahead.close();
});

test("blocks are bounded, and those that were used give way first", () => {
  const blocks = new Blocks();
  const file = blocks.file();
  const bytes = () => new Uint8Array(1 * MiB);
  for (let i = 0; i < 40; i++) blocks.put(file, i, bytes());
  for (let i = 20; i < 40; i++) blocks.use(file, i);
  for (let i = 40; i < 60; i++) blocks.put(file, i, bytes());
  const here = Array.from({ length: 60 }, (_, i) => i).filter((i) => blocks.has(file, i));
  assert.equal(here.length, 48);
  assert.ok(here.includes(0) && here.includes(59) && !here.includes(20), String(here));
  blocks.forget(file);
  assert.ok(here.every((i) => !blocks.has(file, i)));
});
