import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

const script = new URL("../src/settings/firstTheme.js", import.meta.url);

/**
 * firstTheme puts the script of the first theme into the page, where no request delays the first paint, and its hash
 * into the content security policy.
 */
export function firstTheme(): Plugin {
  const text = readFileSync(script, "utf8");
  const hash = createHash("sha256").update(text).digest("base64");
  return {
    name: "first-theme",
    transformIndexHtml: (html) =>
      html
        .replace("<!-- first theme -->", () => `<script>${text}</script>`)
        .replace("script-src 'self'", `script-src 'self' 'sha256-${hash}'`),
  };
}
