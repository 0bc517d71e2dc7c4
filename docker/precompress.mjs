// Writes FILE.br and FILE.gz beside each file of a folder that gets smaller by it.
// The same bytes come out whatever the time and the machine.
//
//   node precompress.mjs FOLDER [CACHE]
//
// CACHE is a folder that keeps what was made, by its content: the engine takes half a minute. What this run did not
// use is deleted from it.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const compressible = /\.(css|html|js|json|map|md|mjs|svg|ttf|txt|wasm|webmanifest|xml)$/;

const pack = {
  ".br": (bytes) =>
    brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  ".gz": (bytes) => gzipSync(bytes, { level: 9 }),
};

const [folder, cache] = process.argv.slice(2);
if (!folder) throw new Error("usage: node precompress.mjs FOLDER [CACHE]");
const used = new Set();

// made packs bytes, or takes what was made of the same before.
async function made(bytes, ending) {
  if (!cache) return pack[ending](bytes);
  const name = createHash("sha256").update(bytes).digest("hex") + ending;
  used.add(name);
  const kept = await readFile(join(cache, name)).catch(() => null);
  if (kept) return kept;
  const packed = pack[ending](bytes);
  await writeFile(join(cache, name), packed);
  return packed;
}

if (cache) await mkdir(cache, { recursive: true });
const total = { "": 0, ".br": 0, ".gz": 0 };
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !compressible.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const bytes = await readFile(path);
  total[""] += bytes.length;
  for (const ending of Object.keys(pack)) {
    const packed = await made(bytes, ending);
    if (packed.length >= bytes.length) continue;
    await writeFile(path + ending, packed);
    total[ending] += packed.length;
  }
}
if (cache) {
  for (const name of await readdir(cache)) if (!used.has(name)) await rm(join(cache, name));
}
console.log(`${total[""]} bytes, ${total[".gz"]} with gzip, ${total[".br"]} with brotli`);
