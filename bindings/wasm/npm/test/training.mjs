// What the tests of training have in their page.
import assert from "node:assert/strict";
import { attempt } from "./browser.mjs";

/** inPage loads nano on a device and defines what the tests call. */
export async function inPage(page, device) {
  await page.waitForFunction(() => globalThis.gemwire);
  const { error } = await attempt(
    page,
    async (device) => {
      Object.assign(globalThis, gemwire);
      globalThis.model = await Model.load(gemwire.nano, { device });
      globalThis.boat = JSON.stringify({ prompt: "What color is the boat?", completion: "The boat is purple." });
      /** Settings of runs whose steps take little time. */
      globalThis.quick = { rank: 4, targets: ["q", "v", "down"], learningRate: 1e-2, schedule: "constant" };
      globalThis.answer = async (content) => {
        let text = "";
        const session = await model.session({ context: 512 });
        for await (const event of session.chat([{ role: "user", content }], { temperature: 0 }))
          if (event.type === "text") text += event.text;
        await session.close();
        return text;
      };
      globalThis.until = async (met) => {
        while (!met()) await new Promise((resolve) => setTimeout(resolve, 5));
      };
      globalThis.spell = async (file) => {
        const bytes = new Uint8Array(await file.arrayBuffer());
        let text = "";
        for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
        return { name: file.name, base64: btoa(text) };
      };
    },
    device,
  );
  assert.equal(error, undefined, JSON.stringify(error));
}
