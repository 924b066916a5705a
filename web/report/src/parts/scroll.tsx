import type { ComponentChildren } from "preact";

/** What is wider than the page scrolls in itself, by keyboard too. */
export function Scroll({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={`Table: ${name}`}>
      {children}
    </section>
  );
}
