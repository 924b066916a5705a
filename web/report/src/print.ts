const FOLDED = ".verdict details, #definitions details";

/** Paper cannot be clicked: gates that passed and definitions are open while the page is printed. */
export function unfoldOnPaper(): void {
  let opened: HTMLDetailsElement[] = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll<HTMLDetailsElement>(FOLDED)].filter(({ open }) => !open);
    for (const details of opened) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
}
