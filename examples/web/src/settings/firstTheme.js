// Sets the theme before the first paint, out of the page itself; theme.ts does it from then on.
(() => {
  let theme = "system";
  try {
    theme = JSON.parse(localStorage.getItem("gemwire.settings") ?? "{}").state?.theme ?? "system";
  } catch {
    /* an unreadable setting is no setting */
  }
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
