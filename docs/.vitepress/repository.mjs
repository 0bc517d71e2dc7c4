// Links in Markdown are written for the repository, where everybody may read it;
// here they are made to lead to the site's own page where there is one, and to the
// repository otherwise.
import { existsSync, statSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";

export const address = "https://github.com/gemwire/gemwire";
export const root = resolve(import.meta.dirname, "../..");

/** Files outside docs/ that have a page of the site: docs/build.mjs copies them. In the order of the sidebar. */
export const sitePages = {
  "tools/README.md": "packages/tools.md",
  "gemma4/README.md": "packages/gemma4.md",
  "gemma4/nano/README.md": "packages/nano.md",
  "multimodal/README.md": "packages/multimodal.md",
  "finetune/README.md": "packages/finetune.md",
  "wgslkit/README.md": "packages/wgslkit.md",
  "gguf/README.md": "packages/gguf.md",
  "quant/README.md": "packages/quant.md",
  "bindings/wasm/npm/README.md": "packages/npm.md",
  "bindings/c/README.md": "packages/c.md",
  "examples/web/README.md": "packages/web.md",
  "examples/bench/README.md": "packages/bench.md",
  "docker/README.md": "packages/docker.md",
  "CONTRIBUTING.md": "contributing.md",
};

/** slugify makes a heading's anchor as the repository's host does, so that links hold in both places. */
export function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** pageOf is the site's page for a file of the repository: its own, a copy, or what was made of its comments. */
function pageOf(file) {
  if (file.startsWith("docs/")) return file.slice("docs/".length);
  if (file === "bindings/wasm/npm/src/index.ts") return "packages/types/index.md";
  const made = file.endsWith("/doc.go") ? `packages/go/${dirname(file)}.md` : undefined;
  return made && existsSync(join(root, "docs", made)) ? made : sitePages[file];
}

/** siteTarget is where a link of the file `source` leads, seen from the page `page`. */
export function siteTarget(href, source, page) {
  if (/^([a-z]+:|\/|#)/i.test(href)) return href;
  const [path = "", anchor = ""] = href.split(/(?=#)/, 2);
  const target = posix.join(dirname(source), decodeURI(path));
  const file = join(root, target);
  if (!existsSync(file)) throw new Error(`${source}: nothing is at ${href}`);
  const folder = statSync(file).isDirectory();
  const own = folder ? undefined : pageOf(target);
  if (own === undefined) return `${address}/${folder ? "tree" : "blob"}/main/${target}${anchor}`;
  const relative = posix.relative(posix.dirname(page), own);
  return (relative.startsWith(".") ? relative : `./${relative}`) + anchor;
}

/** links is a plugin for markdown-it. A page with `source` in its front matter was copied from there. */
export function links(md) {
  md.core.ruler.push("repository-links", ({ env, tokens }) => {
    const { relativePath, frontmatter } = env;
    if (relativePath === undefined || /^packages\/(go\/|types\/|index\.md)/.test(relativePath)) return;
    const source = frontmatter?.source ?? `docs/${relativePath}`;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const name = token.type === "link_open" ? "href" : token.type === "image" ? "src" : "";
      const value = name && token.attrGet(name);
      if (value) token.attrSet(name, siteTarget(value, source, relativePath));
    }
  });
}
