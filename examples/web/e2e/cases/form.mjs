import assert from "node:assert/strict";

const schema = (type) => `{
  "type": "array",
  "items": {
    "type": "object",
    "properties": { "name": { "type": "${type}" } }
  }
}`;

const openOptions = (page) => page.getByRole("button", { name: "Options of this chat" }).click();

export default [
  {
    name: "form: a schema is checked at its place, and answers are shown as a table and a tree",
    async run(visitor) {
      const page = await visitor.open();
      await openOptions(page);
      await page.getByRole("radio", { name: "JSON schema" }).check();
      const field = page.getByLabel("Schema", { exact: true });
      await field.fill("{");
      await page.getByText("The schema is not JSON").waitFor();
      await page.getByLabel("File with a schema").setInputFiles({
        name: "planets.json",
        mimeType: "application/json",
        buffer: Buffer.from(schema("sting")),
      });
      await page.getByText(/^Line 5: #\/items\/properties\/name\/type/).waitFor();
      await visitor.screenshot("e2e/out/form-options.png");
      await field.fill(schema("string"));
      await page.getByText(/^Line 5/).waitFor({ state: "detached" });
      await page.keyboard.press("Escape");

      await visitor.type("/table");
      await visitor.answered();
      assert.deepEqual(await page.getByRole("cell").allInnerTexts(), [
        "Mercury",
        "0",
        "Jupiter",
        "95",
        "Saturn",
        "146",
      ]);
      await page.getByRole("button", { name: "Copy JSON" }).click();
      assert.equal(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).length, 3);
      await page.getByRole("button", { name: "Show JSON" }).click();
      assert.match(await page.getByLabel("JSON", { exact: true }).innerText(), /"name": "Mercury"/);
      await page.getByRole("button", { name: "Show as table" }).click();

      await visitor.type("/tree");
      await page.getByRole("figure", { name: "Tree" }).waitFor();
      await visitor.answered();
      await page.getByText("see the Prater", { exact: true }).waitFor();
      await visitor.screenshot("e2e/out/form.png");
      await page.reload();
      await visitor.ready();
      await page.getByRole("figure", { name: "Tree" }).waitFor();
      assert.equal(await page.getByRole("figure", { name: "Table" }).count(), 1);
    },
  },
];
