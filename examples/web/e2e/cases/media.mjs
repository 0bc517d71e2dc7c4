// Images and recordings, over the shipped engine and the built-in model, which sees shapes and hears a few words.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "../chromium.mjs";
import { Visitor } from "../visitor.mjs";

const file = (name) => fileURLToPath(new URL(`../../../../testdata/conformance/nano/${name}`, import.meta.url));
const scene = file("scene3.png");
const speech = file("speech0.wav");
const shapes = /black square and a yellow triangle on a green background/;

/** Lets go of a file over the page. */
async function drop(page, path, name, type) {
  const transfer = await page.evaluateHandle(
    ({ text, name, type }) => {
      const made = new DataTransfer();
      made.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name, { type }));
      return made;
    },
    { text: readFileSync(path).toString("base64"), name, type },
  );
  for (const event of ["dragenter", "dragover", "drop"])
    await page.dispatchEvent("main", event, { dataTransfer: transfer });
}

/** Answers are greedy from here on, as the reference's. */
async function greedy(visitor) {
  await visitor.go("/settings");
  await visitor.page.getByLabel("Temperature").fill("0");
  await visitor.page.getByLabel("Temperature").press("Tab");
  await visitor.go("/");
}

const attached = (page) =>
  page.getByRole("form", { name: "Question" }).getByRole("list", { name: "Attached" }).getByRole("listitem");

/** Waits until every picture of the conversation is drawn and every player knows its length. */
const shown = (page, pictures, players) =>
  page.waitForFunction(
    ([pictures, players]) => {
      const region = document.querySelector('[aria-label="Conversation"]');
      const images = [...region.querySelectorAll("img")].filter(({ naturalWidth }) => naturalWidth > 0);
      const sounds = [...region.querySelectorAll("audio")].filter(({ duration }) => duration > 0);
      return images.length === pictures && sounds.length === players;
    },
    [pictures, players],
  );

/** A WAV file in which somebody waits, speaks, and waits again. */
function withPauses(folder) {
  const wav = readFileSync(speech);
  const rate = wav.readUInt32LE(24);
  const body = Buffer.concat([Buffer.alloc(2 * rate), wav.subarray(44), Buffer.alloc(2 * 20 * rate)]);
  const head = Buffer.from(wav.subarray(0, 44));
  head.writeUInt32LE(36 + body.length, 4);
  head.writeUInt32LE(body.length, 40);
  const path = join(folder, "speech.wav");
  writeFileSync(path, Buffer.concat([head, body]));
  return path;
}

export default [
  {
    name:
      "media: a dropped picture is described, a dropped recording written down, a follow-up answered, and all is " +
      "there after a reload",
    real: true,
    async run(visitor) {
      const page = await visitor.open();
      await greedy(visitor);
      await drop(page, scene, "shapes.png", "image/png");
      await attached(page).filter({ hasText: "shapes.png" }).locator("img").waitFor();
      assert.match(await visitor.ask("What is in this picture?"), shapes);
      await shown(page, 1, 0);
      assert.equal(await attached(page).count(), 0);
      assert.match(await visitor.ask("What is the capital of France?"), /Paris/);

      await visitor.go("/");
      await page.getByText("Ask your own machine.").waitFor();
      await drop(page, speech, "words.wav", "audio/wav");
      await attached(page).filter({ hasText: "words.wav" }).waitFor();
      assert.match(await visitor.ask("Transcribe this audio."), /cross five/);
      await shown(page, 0, 1);

      await page.reload();
      await visitor.ready();
      await shown(page, 0, 1);
      await visitor.chats().filter({ hasText: "What is in this picture?" }).getByRole("link").first().click();
      await shown(page, 1, 0);
      assert.match(await visitor.answers().nth(0).innerText(), shapes);
      // Asked again under the same question, the picture is read from the history.
      await page.getByRole("button", { name: "Answer again" }).first().click();
      await page.getByText("2/2").waitFor();
      await visitor.answered();
      assert.match(await visitor.lastAnswer(), shapes);
    },
  },
  {
    name: "media: what the microphone hears is written down",
    real: true,
    async run(visitor) {
      const folder = mkdtempSync(join(tmpdir(), "gemwire-e2e-"));
      await visitor.with({ close: async () => rmSync(folder, { recursive: true, force: true }) });
      const browser = await visitor.with(
        launch({
          args: [
            "--use-fake-ui-for-media-stream",
            "--use-fake-device-for-media-stream",
            `--use-file-for-fake-audio-capture=${withPauses(folder)}%noloop`,
          ],
        }),
      );
      const guest = new Visitor(await browser.newContext(), visitor.server);
      guest.context.setDefaultTimeout(120_000);
      const page = await guest.open();
      await greedy(guest);
      await page.getByRole("button", { name: "Record", exact: true }).click();
      await page.getByRole("timer").filter({ hasText: "0:04" }).waitFor();
      await page.getByRole("meter", { name: "Level" }).waitFor();
      await page.getByRole("button", { name: "Keep the recording" }).click();
      await attached(page).filter({ hasText: "Recording" }).waitFor();
      const said = await guest.ask("Transcribe this audio.");
      assert.match(said, /five/);
      visitor.notes.push(`the microphone: “${said.trim()}”`);
      await page.reload();
      await guest.ready();
      await shown(page, 0, 1);
      assert.deepEqual(guest.errors, []);
    },
  },
  {
    name: "media: a picture and a recording travel with an export",
    real: true,
    async run(visitor) {
      const page = await visitor.open();
      await page.getByLabel("Images or recordings", { exact: true }).setInputFiles([scene, speech]);
      await page.waitForFunction(() => document.querySelectorAll('form [aria-label="Attached"] > li').length === 2);
      await page.getByRole("button", { name: /^Remove .*speech0/ }).click();
      await page.getByLabel("Images or recordings", { exact: true }).setInputFiles(speech);
      await page.waitForFunction(() => document.querySelectorAll('form [aria-label="Attached"] > li').length === 2);
      await visitor.ask("What are these?");
      await shown(page, 1, 1);
      await visitor.go("/settings");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Export all chats" }).click(),
      ]);
      const path = await download.path();

      const browser = await visitor.with(launch());
      const guest = new Visitor(await browser.newContext(), visitor.server);
      guest.context.setDefaultTimeout(120_000);
      const other = await guest.open("#/settings");
      await other
        .getByLabel("File with chats")
        .setInputFiles({ name: "chats.json", mimeType: "application/json", buffer: readFileSync(path) });
      await other.getByText("1 chat imported.").waitFor();
      await other.getByRole("link", { name: "What are these?" }).first().click();
      await shown(other, 1, 1);
      assert.deepEqual(guest.errors, []);
    },
  },
  {
    name: "media: a model without towers says so",
    async run(visitor) {
      const page = await visitor.open("", { script: "no-towers" });
      const refused = page.getByRole("form", { name: "Question" }).getByRole("alert");
      await drop(page, scene, "shapes.png", "image/png");
      await refused.filter({ hasText: "cannot see images" }).waitFor();
      await page.getByRole("button", { name: "Record", exact: true }).click();
      await refused.filter({ hasText: "cannot hear recordings" }).waitFor();
      assert.equal(await attached(page).count(), 0);
      assert.equal(await visitor.ask("and on"), "You said: and on");
    },
  },
  {
    name: "media: what cannot be attached is refused in a sentence",
    real: true,
    async run(visitor) {
      const page = await visitor.open();
      await visitor.ready();
      const refused = page.getByRole("form", { name: "Question" }).getByRole("alert");
      const attach = (name, mimeType, buffer) =>
        page.getByLabel("Images or recordings", { exact: true }).setInputFiles({ name, mimeType, buffer });
      await attach("broken.png", "image/png", readFileSync(scene).subarray(0, 12));
      await refused.filter({ hasText: "not an image this browser can show" }).waitFor();
      await attach("notes.txt", "text/plain", Buffer.from("hello"));
      await refused.filter({ hasText: "neither an image nor a recording" }).waitFor();
      await attach("noise.mp3", "audio/mpeg", Buffer.from("hello"));
      await refused.filter({ hasText: "not a recording this browser can play" }).waitFor();
      const wav = Buffer.from(readFileSync(speech).subarray(0, 44));
      const long = Buffer.concat([wav, Buffer.alloc(2 * 16_000 * 60)]);
      long.writeUInt32LE(long.length - 8, 4);
      long.writeUInt32LE(long.length - 44, 40);
      await attach("long.wav", "audio/wav", long);
      await refused
        .filter({ hasText: "can hear 30 seconds at a time" })
        .getByRole("button", { name: "Leave it" })
        .click();
      assert.equal(await attached(page).count(), 0);
      // Without a microphone, the page says so.
      await page.getByRole("button", { name: "Record", exact: true }).click();
      await refused.filter({ hasText: /microphone/i }).waitFor();
    },
  },
];
