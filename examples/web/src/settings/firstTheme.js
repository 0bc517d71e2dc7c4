// Sets the theme before the first paint, out of the page itself; theme.ts does it from then on. It also says whether
// that paint is the empty chat of who has no other model yet (app/firstShell.html).
(() => {
  let theme = "system";
  let model = "builtin";
  try {
    const settings = JSON.parse(localStorage.getItem("gemwire.settings") ?? "{}").state;
    theme = settings?.theme ?? "system";
    model = settings?.model?.kind ?? "builtin";
  } catch {
    /* an unreadable setting is no setting */
  }
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  if (location.hash.length < 2 && model === "builtin") document.documentElement.dataset.first = "chat";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
