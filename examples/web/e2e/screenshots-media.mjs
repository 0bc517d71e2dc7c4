// Takes pictures of images and recordings in a chat, answered by the built-in model: node e2e/screenshots-media.mjs [FOLDER]
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.mjs";
import { serve } from "./server.mjs";
import { Visitor } from "./visitor.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const sample = (name) => here(`../../../testdata/conformance/nano/${name}`);
const folder = process.argv[2] ?? here("out/screens");
mkdirSync(folder, { recursive: true });

const looks = [
  { name: "light", theme: "light", width: 1200, height: 780 },
  { name: "dark", theme: "dark", width: 1200, height: 780 },
  { name: "phone", theme: "light", width: 360, height: 720 },
];

const browser = await launch({ args: ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"] });
const server = await serve({ folder: here("../dist"), model: here("../../../gemma4/nano/nano.gguf") });
for (const look of looks) await takeAll(look);
await browser.close();
await server.close();

async function save(page, name) {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 40 });
  writeFileSync(`${folder}/${name}.webp`, Buffer.from(data, "base64"));
  await session.detach();
}

async function takeAll({ name, theme, width, height }) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", serviceWorkers: "block" });
  const visitor = new Visitor(context, server);
  const page = await visitor.open();
  await visitor.go("/settings");
  await page.getByLabel("Temperature").fill("0");
  await page.getByLabel("Temperature").press("Tab");
  await visitor.go("/");
  const picker = page.getByLabel("Images or recordings", { exact: true });
  await picker.setInputFiles(sample("scene3.png"));
  await visitor.ask("What is in this picture?");
  await picker.setInputFiles(sample("speech0.wav"));
  await visitor.ask("Transcribe this audio.");
  await picker.setInputFiles([sample("scene0.png"), sample("speech1.wav")]);
  await page.getByLabel("Message", { exact: true }).fill("And these two?");
  await page.getByRole("list", { name: "Attached" }).getByRole("listitem").nth(1).waitFor();
  await page.waitForTimeout(500);
  await save(page, `media-${name}`);
  await page.getByRole("button", { name: "Record", exact: true }).click();
  await page.waitForFunction(() => Number(document.querySelector('[role="meter"]')?.getAttribute("aria-valuenow")) > 40);
  await save(page, `record-${name}`);
  await context.close();
}
