import { readFileSync } from "node:fs";
import type { HtmlTagDescriptor, Plugin } from "vite";

const shell = new URL("../src/app/firstShell.html", import.meta.url);

/** The fonts that the first shell is set in. */
const fonts = /(?:instrument-sans|literata)-latin-wght-normal-[\w-]+\.woff2$/;

/**
 * firstShell puts the empty chat into the page, so that its first paint waits for no script, and has its fonts come
 * at once.
 */
export function firstShell(): Plugin {
  return {
    name: "first-shell",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {} }) {
        const tags = Object.keys(bundle)
          .filter((name) => fonts.test(name))
          .map((name): HtmlTagDescriptor => ({
            tag: "link",
            attrs: { rel: "preload", href: `./${name}`, as: "font", type: "font/woff2", crossorigin: "" },
            injectTo: "head",
          }));
        const markup = readFileSync(shell, "utf8").replaceAll(/\n\s*/g, " ");
        return { html: html.replace('<div id="root"></div>', () => `<div id="root">${markup}</div>`), tags };
      },
    },
  };
}
