import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type DefaultTheme } from "vitepress";
import { address, links, slugify } from "./repository.mjs";

const docs = join(import.meta.dirname, "..");

/** What docs/build.mjs has made of the packages' comments. */
const made = join(docs, "packages/sidebar.json");
const packages: DefaultTheme.SidebarItem[] = existsSync(made)
  ? (JSON.parse(readFileSync(made, "utf8")) as DefaultTheme.SidebarItem[])
  : [];

const page = (text: string, link: string): DefaultTheme.SidebarItem => ({ text, link });

const guide: DefaultTheme.SidebarItem[] = [
  {
    text: "Get started",
    items: [
      page("The command", "/get-started/command"),
      page("A Go program", "/get-started/go"),
      page("A page in the browser", "/get-started/browser"),
      page("A C program", "/get-started/c"),
    ],
  },
  {
    text: "How to",
    items: [
      page("Choose and keep models", "/how-to/models"),
      page("Run Gemma 3", "/how-to/gemma3"),
      page("Ask about pictures and sound", "/how-to/pictures-and-sound"),
      page("Get JSON, call tools", "/how-to/tools-and-json"),
      page("Get answers in a form", "/how-to/structured-output"),
      page("Make embeddings", "/how-to/embeddings"),
      page("Set the sampling", "/how-to/sampling"),
      page("Save sessions", "/how-to/save-sessions"),
      page("Fine-tune", "/how-to/fine-tune"),
      page("Use adapters", "/how-to/adapters"),
      page("Convert a checkpoint", "/how-to/convert"),
      page("Quantize a model", "/how-to/quantize"),
      page("Build a page of your own", "/how-to/own-page"),
      page("Serve an API", "/how-to/serve-api"),
      page("Answer a file of requests", "/how-to/batch"),
      page("Serve it at home", "/how-to/serve-at-home"),
      page("Benchmark", "/how-to/benchmark"),
    ],
  },
  {
    text: "In a browser",
    items: [
      page("Models", "/browser/models"),
      page("Answers", "/browser/answers"),
      page("Adapters and training", "/browser/training"),
      page("Errors and the self-test", "/browser/errors"),
    ],
  },
  {
    text: "Help",
    items: [page("Troubleshooting", "/troubleshooting"), page("Coming from elsewhere", "/coming-from")],
  },
  {
    text: "Reference",
    items: [
      page("What works", "/features"),
      page("Architecture", "/architecture"),
      page("File formats", "/file-formats"),
      page("Performance", "/performance"),
      page("Serving models to many users", "/serving"),
      page("Ten million requests a day", "/capacity"),
      page("Decisions", "/decisions"),
      page("Releasing", "/releasing"),
      page("Contributing", "/contributing"),
    ],
  },
];

export default defineConfig({
  title: "gemwire",
  description: "Gemma 4 on your own GPU: a command, Go modules, a browser package and a C library.",
  lang: "en",
  base: process.env.DOCS_BASE ?? "/",
  srcDir: ".",
  srcExclude: ["**/node_modules/**", "dist/**", "test/**"],
  outDir: "./dist",
  cacheDir: "./.vitepress/cache",
  ignoreDeadLinks: "localhostLinks",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${process.env.DOCS_BASE ?? "/"}gem.svg` }]],
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    headers: { slugify },
    theme: { light: "github-light", dark: "github-dark" },
    languageAlias: { jsonl: "json", wgsl: "rust", mod: "text" },
    config: (md) => {
      md.use(links);
    },
  },
  themeConfig: {
    logo: "/gem.svg",
    nav: [
      { text: "Get started", link: "/get-started/command", activeMatch: "^/get-started/" },
      { text: "How to", link: "/how-to/models", activeMatch: "^/how-to/" },
      { text: "Packages", link: "/packages/", activeMatch: "^/packages/" },
      { text: "Architecture", link: "/architecture" },
      // The web app, where it is published beside the documentation; not a page of VitePress's.
      ...(process.env.DOCS_APP ? [{ text: "Web app", link: process.env.DOCS_APP, target: "_self" }] : []),
    ],
    sidebar: { "/packages/": packages, "/": guide },
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: address }],
    search: { provider: "local" },
    externalLinkIcon: false,
    docFooter: { prev: "Before", next: "Next" },
    footer: { message: "Apache-2.0 or MIT, as you like." },
  },
});
