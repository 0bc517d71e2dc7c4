// Takes the pictures of the app that the documentation shows, of the real engine with the built-in model:
//
//   node e2e/screenshots/run.mjs FOLDER [chat|media|finetune ...]
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launch } from "../chromium.mjs";
import { serve } from "../server.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [folder, ...wanted] = process.argv.slice(2);
if (!folder) throw new Error("name the folder for the pictures");
mkdirSync(folder, { recursive: true });

const browser = await launch({ args: ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"] });
const server = await serve({ folder: here("../../dist"), model: here("../../../../gemma4/nano/nano.gguf") });
try {
  for (const part of wanted.length > 0 ? wanted : ["chat", "media", "finetune"]) {
    const { take } = await import(`./${part}.mjs`);
    await take(browser, server, folder);
    console.log(`${part}: taken`);
  }
} finally {
  await browser.close();
  await server.close();
}
