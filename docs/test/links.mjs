// Follows every link of the built site: to its own pages with their headings, to
// what they show, and to files of the repository.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { address } from "../.vitepress/repository.mjs";

const decode = (text) => text.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'");
const values = (html, name) =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value]) => decode(value));

/** checkLinks returns how many links there are and which lead nowhere. */
export async function checkLinks(dist, root) {
  const names = (await readdir(dist, { recursive: true })).map((name) => name.split("\\").join("/"));
  const pages = new Map();
  for (const name of names.filter((n) => n.endsWith(".html"))) {
    const html = await readFile(join(dist, name), "utf8");
    pages.set(name, {
      ids: new Set(values(html, "id")),
      links: new Set([...values(html, "href"), ...values(html, "src")]),
    });
  }
  const all = new Set(names);
  const faults = [];
  let count = 0;
  for (const [page, { links }] of pages) {
    for (const link of links) {
      count++;
      const fault = follow(link, page, { all, pages, root });
      if (fault) faults.push(`${page}: ${link}: ${fault}`);
    }
  }
  return { count, pages: pages.size, faults };
}

function follow(link, page, { all, pages, root }) {
  if (link.startsWith(`${address}/`)) {
    const file = /^\/(?:blob|tree)\/main\/([^#?]*)/.exec(link.slice(address.length))?.[1];
    return file === undefined || existsSync(join(root, decodeURI(file))) ? "" : "not in the repository";
  }
  if (/^[a-z]+:/i.test(link)) return "";
  const [path, anchor = ""] = decodeURI(link).split("#", 2);
  let target = path === "" ? page : path.startsWith("/") ? path.slice(1) : posix.join(posix.dirname(page), path);
  if (target === "" || target.endsWith("/")) target += "index.html";
  if (!all.has(target) && all.has(`${target}.html`)) target += ".html";
  if (!all.has(target)) return "no such page";
  if (anchor !== "" && pages.has(target) && !pages.get(target).ids.has(anchor)) return "no such heading";
  return "";
}
