// Writes FILE.br and FILE.gz beside each file of a folder that gets smaller by it.
// The same bytes come out whatever the time and the machine.
//
//   node precompress.mjs FOLDER
import { readdir, readFile, writeFile } from "node:fs/promises";
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

const [folder] = process.argv.slice(2);
if (!folder) throw new Error("usage: node precompress.mjs FOLDER");
const total = { "": 0, ".br": 0, ".gz": 0 };
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !compressible.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const bytes = await readFile(path);
  total[""] += bytes.length;
  for (const [ending, make] of Object.entries(pack)) {
    const packed = make(bytes);
    if (packed.length >= bytes.length) continue;
    await writeFile(path + ending, packed);
    total[ending] += packed.length;
  }
}
console.log(`${total[""]} bytes, ${total[".gz"]} with gzip, ${total[".br"]} with brotli`);
