// Images and recordings in a chat, and the microphone.
import { Visitor } from "../visitor.mjs";
import { looks, sample, save, settings } from "./camera.mjs";

export async function take(browser, server, folder) {
  for (const look of looks) await takeAll(browser, server, folder, look);
}

async function takeAll(browser, server, folder, look) {
  const context = await browser.newContext(settings(look));
  context.setDefaultTimeout(300_000);
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
  await save(page, folder, `media-${look.name}`);
  await page.getByRole("button", { name: "Record", exact: true }).click();
  await page.waitForFunction(
    () => Number(document.querySelector('[role="meter"]')?.getAttribute("aria-valuenow")) > 40,
  );
  await save(page, folder, `record-${look.name}`);
  await context.close();
}
