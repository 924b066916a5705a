import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let chosen: Theme | undefined;

export const theme = (): Theme => chosen ?? (dark.matches ? "dark" : "light");

function tell(): void {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener();
}

/** The choice holds for this page view; without one the page follows the system. */
export function toggleTheme(): void {
  chosen = theme() === "dark" ? "light" : "dark";
  tell();
}

dark.addEventListener("change", tell);
tell();

export function useTheme(): Theme {
  const [value, set] = useState(theme);
  useEffect(() => {
    const listener = () => set(theme());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return value;
}
