import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const picture = fileURLToPath(new URL("../../public/icons/icon-192.png", import.meta.url));

/** A second of silence: a WAV file of 16-bit samples at 16 kHz. */
function silence() {
  const data = Buffer.alloc(44 + 32_000);
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
  data.writeUInt32LE(32_000, 40);
  return { name: "silence.wav", mimeType: "audio/wav", buffer: data };
}

/** Hands a picture to the page as the clipboard or the mouse would. */
const give = (page, kind) => page.evaluate(([bytes, how]) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(bytes)], `${how}.png`, { type: "image/png" }));
  const target = document.getElementById("composer");
  target.dispatchEvent(how === "paste" ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }) : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, [[...readFileSync(picture)], kind]);

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
      await page.getByLabel("Images or recordings", { exact: true }).setInputFiles([{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("notes") }]);
      await page.getByText("notes.txt is neither an image nor a recording.").waitFor();
      assert.equal(await attached(page).count(), 0);
    },
  },
  {
    name: "attachments: travel with an export",
    async run(visitor) {
      const page = await visitor.open();
      await page.getByLabel("Images or recordings", { exact: true }).setInputFiles([picture]);
      await visitor.ask("look at it");
      await visitor.go("/settings");
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export all chats" }).click()]);
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
