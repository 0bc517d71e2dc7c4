// A chat, the models, the self-test and the settings.
import { Visitor } from "../visitor.mjs";
import { looks, save, settings } from "./camera.mjs";

export async function take(browser, server, folder) {
  for (const look of looks) await takeAll(browser, server, folder, look);
}

const top = (page) =>
  page
    .locator("main > div")
    .first()
    .evaluate((element) => element.scrollTo({ top: 0 }));
const show = (page, heading) =>
  page.getByRole("heading", { name: heading }).evaluate((element) => element.scrollIntoView({ block: "start" }));

async function takeAll(browser, server, folder, look) {
  const context = await browser.newContext(settings(look));
  context.setDefaultTimeout(300_000);
  const visitor = new Visitor(context, server);
  const page = await visitor.open();
  const take = (screen) => save(page, folder, `${screen}-${look.name}`);
  await take("empty");
  await visitor.go("/settings");
  await page.getByLabel("Temperature").fill("0");
  await page.getByLabel("Temperature").press("Tab");
  for (const question of ["What day comes after Monday?", "Is a whale a fish?"]) {
    await visitor.go("/");
    await visitor.ask(question);
  }
  await visitor.go("/");
  await visitor.ask("What is the capital of Peru?");
  await visitor.ask("Which is bigger, 17 or 50?");
  await visitor.ask("Tell me a story about a cat named Ada.");
  await take("chat");
  await takeOptions(visitor, take);
  if (look.touch) {
    await page.getByRole("button", { name: "Chats and pages" }).click();
    await take("drawer");
    await page.keyboard.press("Escape");
  } else {
    await page.getByLabel("Search the chats").fill("boat");
    await take("search");
    await page.getByLabel("Search the chats").fill("");
  }
  await takeModels(visitor, take);
  await visitor.go("/self-test");
  await page.getByRole("button", { name: "Run the self-test" }).click();
  await page.getByText("Report for a bug report").waitFor();
  await take("self-test");
  await visitor.go("/settings");
  await page.getByRole("heading", { name: "Appearance" }).waitFor();
  await take("settings");
  await show(page, "Device");
  await take("settings-more");
  await context.close();
}

/** The options of a chat, and a question that is edited. */
async function takeOptions({ page }, take) {
  await page.getByRole("button", { name: "Options of this chat" }).click();
  await take("options");
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Edit the question" }).last().click();
  await take("edit");
  await page.keyboard.press("Escape");
}

async function takeModels(visitor, take) {
  const { page, server } = visitor;
  await visitor.go("/models");
  await page.getByLabel("Address", { exact: true }).fill(`${server.origin}/slow/small.gguf`);
  await page.getByRole("button", { name: "Does it fit? small.gguf" }).click();
  await page.getByText("Fits on this device.").waitFor();
  await page.getByRole("button", { name: "Download and keep" }).click();
  await page.getByText(/[1-9][\d.]* MB of [\d.]+ MB/).waitFor();
  await page.getByRole("button", { name: "Pause small.gguf", exact: true }).click();
  await top(page);
  await take("models");
  await show(page, "From Hugging Face");
  await take("models-more");
}
