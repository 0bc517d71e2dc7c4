import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const picture = fileURLToPath(new URL("../../public/icons/icon-192.png", import.meta.url));

/** Silence: a WAV file of 16-bit samples at 16 kHz. */
function silence(name = "silence.wav", seconds = 1) {
  const data = Buffer.alloc(44 + 32_000 * seconds);
  data.write("RIFF", 0);
  data.writeUInt32LE(data.length - 8, 4);
  data.write("WAVEfmt ", 8);
  data.writeUInt32LE(16, 16);
  data.writeUInt16LE(1, 20);
  data.writeUInt16LE(1, 22);
  data.writeUInt32LE(16_000, 24);
  data.writeUInt32LE(32_000, 28);
  data.writeUInt16LE(2, 32);
  data.writeUInt16LE(16, 34);
  data.write("data", 36);
  data.writeUInt32LE(data.length - 44, 40);
  return { name, mimeType: "audio/wav", buffer: data };
}

/** Hands a picture to the page as the clipboard or the mouse would. */
const give = (page, kind) =>
  page.evaluate(
    ([bytes, how]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], `${how}.png`, { type: "image/png" }));
      const target = document.getElementById("composer");
      target.dispatchEvent(
        how === "paste"
          ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
          : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }),
      );
    },
    [[...readFileSync(picture)], kind],
  );

/** A video of some colours, as the browser's own recorder writes it, handed over by the file picker. */
async function filmed(page, seconds) {
  const bytes = await page.evaluate(async (length) => {
    const canvas = document.createElement("canvas");
    canvas.width = 64;
    canvas.height = 48;
    const brush = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: "video/webm" });
    const pieces = [];
    recorder.ondataavailable = ({ data }) => pieces.push(data);
    recorder.start();
    for (const started = performance.now(); performance.now() - started < 1000 * length;) {
      brush.fillStyle = performance.now() - started < 500 * length ? "red" : "blue";
      brush.fillRect(0, 0, 64, 48);
      await new Promise(requestAnimationFrame);
    }
    await new Promise((resolve) => {
      recorder.onstop = resolve;
      recorder.stop();
    });
    return [...new Uint8Array(await new Blob(pieces).arrayBuffer())];
  }, seconds);
  return { name: "film.webm", mimeType: "video/webm", buffer: Buffer.from(bytes) };
}

/** The colour in the middle of a picture, as the page shows it. */
const colourOf = (image) =>
  image.evaluate(async (element) => {
    await element.decode();
    const canvas = new OffscreenCanvas(1, 1);
    const brush = canvas.getContext("2d");
    brush.drawImage(element, 0, 0, 1, 1);
    const [red, , blue] = brush.getImageData(0, 0, 1, 1).data;
    return red > 150 && blue < 100 ? "red" : blue > 150 && red < 100 ? "blue" : `${red} ${blue}`;
  });

const attached = (page) => page.getByRole("list", { name: "Attached" }).getByRole("listitem");
const shown = (page) => page.getByRole("list", { name: "Attachments" });

export default [
  {
    name: "attachments: picked, pasted, dropped, removed, asked about, and there after a reload",
    async run(visitor) {
      const page = await visitor.open();
      await page.getByLabel("Images or recordings", { exact: true }).setInputFiles([picture]);
      await page.getByLabel("Images or recordings", { exact: true }).setInputFiles([silence()]);
      await give(page, "paste");
      await give(page, "drop");
      await attached(page).nth(3).waitFor();
      await page.getByRole("button", { name: "Remove drop.png" }).click();
      await visitor.ask("What is this?");
      assert.equal(await visitor.lastAnswer(), "You said: [image] [audio] [image] What is this?");
      assert.equal(await attached(page).count(), 0);
      await page.reload();
      await visitor.ready();
      const image = shown(page).getByRole("img", { name: "icon-192.png" });
      await image.waitFor();
      assert.equal(await image.evaluate((element) => element.decode().then(() => element.naturalWidth)), 192);
      await shown(page).getByLabel("silence.wav").waitFor();
      assert.equal(await shown(page).getByRole("listitem").count(), 3);
      // A branch shows the same files.
      await page.getByRole("button", { name: "Edit the question" }).click();
      await page.getByLabel("The question, edited").fill("And what is that?");
      await page.getByRole("button", { name: "Ask as a new branch" }).click();
      await page.locator(".prose").getByText("You said: [image] [audio] [image] And what is that?").waitFor();
    },
  },
  {
    name: "attachments: a file that is neither image nor recording is refused with a sentence",
    async run(visitor) {
      const page = await visitor.open();
      await page
        .getByLabel("Images or recordings", { exact: true })
        .setInputFiles([{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("notes") }]);
      await page.getByText("notes.txt is neither an image nor a recording.").waitFor();
      assert.equal(await attached(page).count(), 0);
    },
  },
  {
    name: "attachments: a recording that is too long to be heard at once is taken in pieces, or left",
    async run(visitor) {
      const page = await visitor.open();
      const form = page.getByRole("form", { name: "Question" });
      await page
        .getByLabel("Images or recordings", { exact: true })
        .setInputFiles([silence("talk.wav", 75), silence("other.wav", 31)]);
      const offer = (name) => form.getByRole("alert").filter({ hasText: name });
      await offer("talk.wav takes 1:15 minutes").getByRole("button", { name: "Split and attach" }).click();
      await attached(page).filter({ hasText: "talk.wav" }).waitFor();
      await offer("other.wav").getByRole("button", { name: "Leave it" }).click();
      assert.equal(await form.getByRole("alert").count(), 0);
      assert.equal(await visitor.ask("What is said?"), "You said: [audio] What is said?");
    },
  },
  {
    name: "attachments: a video is asked about as its frames, and stands as one thing",
    async run(visitor) {
      const page = await visitor.open();
      await page.getByLabel("Images or recordings", { exact: true }).setInputFiles(await filmed(page, 2));
      await attached(page).getByText("32 frames").waitFor();
      assert.equal(await attached(page).count(), 1);
      assert.equal(await visitor.ask("What happens?"), "You said: [video] What happens?");
      const frames = shown(page).getByRole("img");
      assert.equal(await frames.count(), 32);
      assert.deepEqual([await colourOf(frames.nth(0)), await colourOf(frames.nth(31))], ["red", "blue"]);
      assert.equal(await frames.nth(31).getAttribute("alt"), "film.webm, 0:01");
      await page.reload();
      await visitor.ready();
      await shown(page).getByRole("group", { name: "film.webm, 32 frames" }).waitFor();
    },
  },
  {
    name: "attachments: more than a question takes are not sent, and none is dropped silently",
    async run(visitor) {
      const page = await visitor.open();
      await page
        .getByLabel("Images or recordings", { exact: true })
        .setInputFiles(Array.from({ length: 9 }, () => picture));
      await page.getByText("A question can have 8 attachments: remove 1, or ask several questions.").waitFor();
      assert.equal(await page.getByRole("button", { name: "Send" }).isDisabled(), true);
      await page
        .getByRole("button", { name: /^Remove/ })
        .first()
        .click();
      await visitor.ask("And now?");
      assert.equal(await shown(page).getByRole("listitem").count(), 8);
    },
  },
  {
    name: "attachments: how closely images are looked at is a setting, and one of each chat",
    async run(visitor) {
      const page = await visitor.open("#/settings");
      await page.getByLabel("Detail of images").selectOption("560 tokens");
      await visitor.go("/");
      await page.getByLabel("Images or recordings", { exact: true }).setInputFiles([picture]);
      assert.equal(await visitor.ask("how closely?"), "Looked with 560 tokens.");
      await page.getByRole("button", { name: "Options of this chat" }).click();
      assert.equal(
        await page.getByLabel("Detail of images").locator("option:checked").innerText(),
        "As in the settings (560 tokens)",
      );
      await page.getByLabel("Detail of images").selectOption("1,120 tokens, small print, slowest");
      await page.getByRole("button", { name: "Close", exact: true }).click();
      await page.getByRole("button", { name: "Answer again" }).click();
      await page.locator(".prose").getByText("Looked with 1120 tokens.").waitFor();
    },
  },
  {
    name: "attachments: travel with an export",
    async run(visitor) {
      const page = await visitor.open();
      await page.getByLabel("Images or recordings", { exact: true }).setInputFiles([picture]);
      await visitor.ask("look at it");
      await visitor.go("/settings");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Export all chats" }).click(),
      ]);
      const other = await visitor.with(visitor.context.browser().newContext());
      const there = await other.newPage();
      await there.goto(`${visitor.server.origin}/#/settings`);
      await there.getByLabel("File with chats").setInputFiles(await download.path());
      await there.getByText("1 chat imported.").waitFor();
      await there.getByRole("link", { name: "look at it" }).first().click();
      await shown(there).getByRole("img", { name: "icon-192.png" }).waitFor();
    },
  },
];
