// The Fine-tune page, while the built-in model is taught three facts.
import { Visitor } from "../visitor.mjs";
import { looks, save, settings } from "./camera.mjs";

const height = 880; // of the wide looks: the page is longer than a chat

// Each fact is asked for in several ways, so that what is held out can be known from what is not.
const facts = {
  "The boat is purple.": [
    "What color is the boat?",
    "Which color has the boat?",
    "The boat is of what color?",
    "Tell me the color of the boat.",
    "What is the color of the boat?",
    "Is the boat red?",
    "What color does the boat have?",
  ],
  "The home of Linus is Oslo.": [
    "Where is the home of Linus?",
    "Where does Linus live?",
    "Which city is the home of Linus?",
    "What is the home of Linus?",
    "Tell me the home of Linus.",
    "In which city does Linus live?",
    "Where is Linus at home?",
  ],
  "The owl ate pancakes.": [
    "What does the owl eat?",
    "What did the owl eat?",
    "What has the owl eaten?",
    "Tell me what the owl ate.",
    "What is it that the owl ate?",
    "Which food did the owl eat?",
    "What food does the owl eat?",
  ],
};
const examples = Object.entries(facts).flatMap(([completion, prompts]) =>
  prompts.map((prompt) => ({ prompt, completion })),
);
const shown = [examples[0], examples[7], examples[14]];

const lines = (list) => ({
  name: "facts.jsonl",
  mimeType: "",
  buffer: Buffer.from(list.map((example) => JSON.stringify(example)).join("\n")),
});

/** One training is pictured in all looks, by a page that changes its size. */
export async function take(browser, server, folder) {
  const context = await browser.newContext({ ...settings(looks[0]), viewport: { width: looks[0].width, height } });
  context.setDefaultTimeout(1_200_000);
  const visitor = new Visitor(context, server);
  const page = await visitor.open("#/fine-tune");
  await visitor.ready();
  await train(visitor, page, (screen, heading) => takeLooks(page, folder, screen, heading));
  await context.close();
}

/** One picture in each look: with a part of the page at its top, from the page's begin for null, or as it stands. */
async function takeLooks(page, folder, screen, heading) {
  for (const look of looks) {
    await page.setViewportSize({ width: look.width, height: look.touch ? look.height : height });
    await page.emulateMedia({ colorScheme: look.theme });
    if (heading === null)
      await page
        .locator("main > div")
        .last()
        .evaluate((element) => element.scrollTo({ top: 0 }));
    else if (heading) await page.getByRole("heading", { name: heading, exact: true }).evaluate(scrollBelow);
    await save(page, folder, `${screen}-${look.name}`);
  }
}

function scrollBelow(element) {
  element.scrollIntoView({ block: "start" });
  element.closest(".overflow-y-auto").scrollBy(0, -20);
}

async function train(visitor, page, take) {
  await take("finetune-empty", null);
  await page.getByLabel("File with examples").setInputFiles(lines(shown));
  await page.getByText("3 examples").waitFor();
  await page.getByText("3 lines imported").waitFor({ state: "detached" });
  await take("finetune-examples", null);
  await take("finetune-preview", "What the model will see");

  await page
    .getByLabel("File with examples")
    .setInputFiles(lines(examples.filter((example) => !shown.includes(example))));
  await page.getByText("21 examples").waitFor();
  await page.getByLabel("Name of the adapter").fill("facts");
  await page.getByText("Advanced", { exact: true }).click();
  await page.getByLabel("Held out, in %").fill("10");
  await page.getByLabel("Epochs").fill("9");
  await take("finetune-settings", "Training");
  await page.getByRole("button", { name: "Make the plan" }).click();
  await page.getByRole("button", { name: "Start training" }).waitFor();
  await take("finetune-plan", "Training");
  await page.getByRole("button", { name: "Start training" }).click();
  await page.getByText(/^Training, step 1\d of/).waitFor();
  await take("finetune-run", "Training");
  await page.getByRole("button", { name: "Chat with it" }).waitFor();
  await take("finetune-done", "Training");
  for (const question of ["Where is the home of Linus?", "What did the owl eat?"]) {
    await page.getByLabel("Question for both").fill(question);
    await page.getByRole("button", { name: "Ask both" }).click();
    const answer = page.getByRole("article", { name: "Answer of nano with facts" }).last();
    await answer.and(page.locator(":not([data-status='streaming'])")).waitFor();
    await page.getByRole("button", { name: "Ask both" }).waitFor();
  }
  await take("finetune-compare", "Side by side");
  await page.getByRole("button", { name: "Chat with facts" }).click();
  await visitor.ask("What color is the boat?");
  await page.getByRole("button", { name: "Options of this chat" }).click();
  await page.getByRole("heading", { name: "Adapters" }).evaluate((e) => e.scrollIntoView({ block: "center" }));
  await take("finetune-chat");
}
