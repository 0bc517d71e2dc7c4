import { readFileSync } from "node:fs";
import type { HtmlTagDescriptor, Plugin, Rollup } from "vite";

const shell = new URL("../src/app/firstShell.html", import.meta.url);

/** The fonts that the first shell is set in. */
const fonts = /(?:instrument-sans|literata)-latin-wght-normal-[\w-]+\.woff2/;

/**
 * firstShell puts the empty chat and its styles into the page, so that its first paint waits for no request but the
 * page's own, and has its fonts come at once.
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
        const page = html.replace('<div id="root"></div>', () => `<div id="root">${markup}</div>`);
        return { html: behindFonts(withStyles(page, bundle)), tags };
      },
    },
  };
}

/** The page with its scripts behind the fonts that its first paint is set in. */
function behindFonts(html: string): string {
  return html.replaceAll(/<(?:script type="module"|link rel="modulepreload")/g, '$& fetchpriority="low"');
}

/** The page with the style sheet that it links to, which is not shipped beside it. */
function withStyles(html: string, bundle: Rollup.OutputBundle): string {
  return html.replace(/<link rel="stylesheet"[^>]*href="\.\/([^"]+)"[^>]*>/, (link, name: string) => {
    const sheet = bundle[name];
    if (sheet?.type !== "asset") return link;
    delete bundle[name];
    const folder = name.slice(0, name.lastIndexOf("/") + 1);
    const text = typeof sheet.source === "string" ? sheet.source : new TextDecoder().decode(sheet.source);
    return `<style>${text.replaceAll("url(./", `url(./${folder}`)}</style>`;
  });
}
