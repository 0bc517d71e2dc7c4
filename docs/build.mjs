// Writes the pages that are made of other things into docs/packages (the modules'
// READMEs, Go's doc comments, the npm package's types), then builds the site.
//
//   node build.mjs             into docs/dist
//   node build.mjs --pages     the pages alone
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { root, sitePages } from "./.vitepress/repository.mjs";

const docs = import.meta.dirname;
const packages = join(docs, "packages");
const modules = ["gemma4", "gemma4/nano", "multimodal", "finetune", "wgslkit", "gguf", "quant"];

/** titleOf is the first heading of a Markdown text, unless the name of the folder says more. */
const titleOf = (text, source) =>
  (source.includes("/npm/") ? "the npm package" : (/^# (.*)$/m.exec(text)?.[1] ?? "")).replaceAll("`", "");

/** aboutOf is the first sentence of a Markdown text, without its links. */
const aboutOf = (text) =>
  (/^(?![#\s`>!|-])[^\n]+/m.exec(text)?.[0] ?? "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\.(\s.*)?$/, "");

/** copyPages copies READMEs, saying where they are from: links are resolved from there. */
async function copyPages() {
  for (const [source, page] of Object.entries(sitePages)) {
    if (!existsSync(join(root, source))) continue;
    const text = await readFile(join(root, source), "utf8");
    await mkdir(dirname(join(docs, page)), { recursive: true });
    await writeFile(join(docs, page), `---\nsource: ${source}\n---\n\n${text}`);
  }
}

function writeGoPages() {
  execFileSync("go", ["run", "./tools/lab/cmd/packagepages", "-out", join(packages, "go"), ...modules], {
    cwd: root,
    stdio: "inherit",
  });
}

function writeTypes() {
  const source = join(root, "bindings/wasm/npm");
  const arguments_ = [
    "--plugin",
    "typedoc-plugin-markdown",
    "--entryPoints",
    join(source, "src/index.ts"),
    "--tsconfig",
    join(source, "tsconfig.json"),
    "--out",
    join(packages, "types"),
    "--readme",
    "none",
    "--outputFileStrategy",
    "modules",
    "--hideBreadcrumbs",
    "true",
    "--hidePageHeader",
    "true",
    "--excludePrivate",
    "true",
    "--excludeInternal",
    "true",
    "--disableSources",
    "true",
    "--name",
    "gemwire on npm",
    "--parametersFormat",
    "table",
    "--entryFileName",
    "index",
    "--logLevel",
    "Warn",
    "--skipErrorChecking",
    "true",
    "--useCodeBlocks",
    "true",
  ];
  execFileSync(process.execPath, [join(docs, "node_modules/typedoc/bin/typedoc"), ...arguments_], {
    cwd: docs,
    stdio: "inherit",
  });
}

/** tell lists the pages for the sidebar and on a page of their own. */
async function tell() {
  const readmes = [];
  for (const [source, page] of Object.entries(sitePages)) {
    if (!page.startsWith("packages/") || !existsSync(join(docs, page))) continue;
    const text = await readFile(join(root, source), "utf8");
    readmes.push({ text: titleOf(text, source), link: `/${page.replace(/\.md$/, "")}`, about: aboutOf(text) });
  }
  const go = [];
  for (const file of (await readdir(join(packages, "go"), { recursive: true })).sort()) {
    if (!file.endsWith(".md")) continue;
    const path = file.replace(/\.md$/, "");
    const text = await readFile(join(packages, "go", file), "utf8");
    const about = /\nPackage \S+ (.*?)[.:](\s|$)/s.exec(text)?.[1] ?? "";
    go.push({ text: path, link: `/packages/go/${path}`, about });
  }
  const types = { text: "TypeScript", link: "/packages/types/" };
  const sidebar = [
    {
      text: "Overview",
      items: [{ text: "All packages", link: "/packages/" }, ...readmes.map(({ text, link }) => ({ text, link }))],
    },
    { text: "Types of the npm package", items: [types] },
    { text: "Go packages", items: go.map(({ text, link }) => ({ text, link })) },
  ];
  await writeFile(join(packages, "sidebar.json"), JSON.stringify(sidebar));
  const line = (link, text, about) =>
    "- " +
    `[${text}](.${link.replace(/^\/packages/, "")}${link.endsWith("/") ? "index" : ""}.md)${about ? ` ${about}` : ""}`;
  await writeFile(
    join(packages, "index.md"),
    [
      "# Packages",
      "",
      ...readmes.map(({ link, text, about }) => line(link, text, about)),
      "",
      "## Types of the npm package",
      "",
      line(types.link, "Everything that `gemwire` exports"),
      "",
      "## Go packages",
      "",
      ...go.map(({ link, text, about }) => line(link, `\`${text}\``, about.replaceAll("\n", " "))),
      "",
    ].join("\n"),
  );
}

await rm(packages, { recursive: true, force: true });
await mkdir(packages, { recursive: true });
await copyPages();
writeGoPages();
writeTypes();
await tell();
if (!process.argv.includes("--pages")) {
  execFileSync(process.execPath, [join(docs, "node_modules/vitepress/bin/vitepress.js"), "build", docs], {
    cwd: docs,
    stdio: "inherit",
  });
  console.log(`the site is in ${relative(process.cwd(), join(docs, "dist"))}`);
}
