// The built-in model answers while its towers are still coming, and says so where they do not come.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { listen } from "../../browsertest/server.mjs";
import { attempt, openPage, root, start } from "./browser.mjs";

const nano = join(root, "gemma4/nano/nano.gguf");
const { size } = await stat(nano);
// All of the towers but their first kilobytes, which are the last bytes of the file.
const towers = 7_000_000;

let env, server, page;
/** How the model is served: what happens before the towers, whether parts are served, and which version it is. */
let serving;
let asked;

before(async () => {
  env = await start({ folders: { "/media": join(root, "testdata/conformance/nano") } });
  server = await serveSlowly(env.site.url);
  page = await openPage(env.context, server);
  await page.evaluate(() => {
    globalThis.answer = async (messages) => {
      let text = "";
      for await (const event of model.chat(messages, { temperature: 0, maxTokens: 24 }))
        if (event.type === "text") text += event.text;
      return text;
    };
    globalThis.look = async () => {
      const image = new File([await (await fetch("/media/scene0.png")).arrayBuffer()], "scene0.png");
      const content = [
        { type: "image", image, budget: 70 },
        { type: "text", text: "What is in the picture?" },
      ];
      return answer([{ role: "user", content }]);
    };
  });
});
after(async () => {
  await env?.stop();
  await server?.close();
});
beforeEach(() => {
  asked = [];
  serving = { towers: "held", ranges: true, version: '"1"' };
});

const load = () =>
  attempt(page, async () => {
    globalThis.model = await gemwire.Model.load(gemwire.nano, { device: "cpu", context: 512 });
    return answer([{ role: "user", content: "What is the capital of France?" }]);
  });

async function loads() {
  const { value, error } = await load();
  assert.match(value ?? `${error.code}: ${error.message}`, /Paris/);
}

test("the first answer comes before the towers, and a picture waits for them", async () => {
  await loads();
  // What comes before the towers ends behind the language part: the answer may stand before the server is through.
  for (let tries = 0; !serving.release && tries < 100; tries++) await pause(100);
  const release = serving.release;
  assert.ok(release, "the server still holds the towers back");

  const picture = attempt(page, () => look());
  assert.equal(await Promise.race([picture, pause(1500)]), "waits");
  release();
  const { value, error } = await picture;
  assert.equal(error, undefined);
  assert.match(value, /purple circle/i);
  assert.deepEqual(asked, [undefined]); // one request, of the whole file
  await page.evaluate(() => model.close());
});

for (const ranges of [true, false]) {
  test(`towers that do not come are said, and tried again: ${ranges ? "the rest" : "all"} of the file`, async () => {
    Object.assign(serving, { towers: "broken", ranges });
    await loads();
    const { error } = await attempt(page, () => look());
    assert.equal(error?.code, "network", error?.message);
    assert.match(error.message, /the built-in model/);

    serving.towers = "sent";
    const { value, error: again } = await attempt(page, () => look());
    assert.equal(again, undefined);
    assert.match(value, /purple circle/i);
    // Others than the first ask for what is missing.
    assert.equal(asked[0], undefined);
    assert.ok(asked.slice(1).every((range) => /^bytes=[1-9]\d+-$/.test(range)) && asked.length > 2, String(asked));
    const said = await page.evaluate(() => answer([{ role: "user", content: "What color is the sky?" }]));
    assert.equal(said, await sky()); // the language part is as it was
    await page.evaluate(() => model.close());
  });
}

test("another version's towers are not taken", async () => {
  serving.towers = "broken";
  await loads();
  Object.assign(serving, { towers: "sent", version: '"2"' });
  const { error } = await attempt(page, () => look());
  assert.equal(error?.code, "changed", error?.message);
  await page.evaluate(() => model.close());
});

test("a file that breaks off in the language part does not load", async () => {
  serving.towers = "broken early";
  const { error } = await load();
  assert.equal(error?.code, "network", error?.message);
});

test("a model is closed while its towers are held back", async () => {
  await loads();
  const waiting = attempt(page, () => look());
  await pause(300);
  await page.evaluate(() => model.close());
  assert.deepEqual(await waiting, { value: "" }); // the answer ends without a word
});

// sky is the answer of a model that came at once.
async function sky() {
  serving.towers = "sent";
  return page.evaluate(async () => {
    const other = await gemwire.Model.load(gemwire.nano, { device: "cpu", context: 512 });
    let text = "";
    for await (const event of other.chat([{ role: "user", content: "What color is the sky?" }], {
      temperature: 0,
      maxTokens: 24,
    }))
      if (event.type === "text") text += event.text;
    await other.close();
    return text;
  });
}

const pause = (ms) => new Promise((resolve) => setTimeout(() => resolve("waits"), ms));

/** serveSlowly is another site with its own way to serve the built-in model. */
function serveSlowly(site) {
  return listen((request, response) => {
    if (request.url === "/dist/nano.gguf") return sendModel(request, response);
    fetch(site + request.url).then(
      async (answer) => {
        const headers = Object.fromEntries(answer.headers);
        response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
      },
      () => response.destroy(),
    );
  });
}

function sendModel(request, response) {
  asked.push(request.headers.range);
  const { ranges, version } = serving;
  const from = ranges ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
  response.writeHead(from ? 206 : 200, {
    "Content-Length": size - from,
    ...(from && { "Content-Range": `bytes ${from}-${size - 1}/${size}` }),
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cache-Control": "no-store",
    ETag: version,
  });
  const end = serving.towers === "broken early" ? size / 2 : size - towers;
  const rest = () => createReadStream(nano, { start: Math.max(from, end) }).pipe(response);
  if (serving.towers === "sent") return createReadStream(nano, { start: from }).pipe(response);
  const stop = () => {
    if (serving.towers === "held") serving.release = rest;
    else response.destroy();
  };
  if (from >= end) return stop();
  // A connection that breaks takes what it still holds with it.
  createReadStream(nano, { start: from, end: end - 1 })
    .on("end", () => setTimeout(stop, 500))
    .pipe(response, { end: false });
}
