import { useEffect } from "react";
import { useSettings } from "./settingsStore";

/** Keeps the page in the chosen theme; firstTheme.js has set it before the first paint. */
export function useTheme(): void {
  const theme = useSettings((state) => state.theme);
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      const dark = theme === "dark" || (theme === "system" && system.matches);
      document.documentElement.dataset.theme = dark ? "dark" : "light";
    };
    apply();
    system.addEventListener("change", apply);
    return () => {
      system.removeEventListener("change", apply);
    };
  }, [theme]);
}
