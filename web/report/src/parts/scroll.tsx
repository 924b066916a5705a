import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Whether something is hidden to the right of what an element shows. */
function goesOn({ scrollLeft, clientWidth, scrollWidth }: Element): boolean {
  return scrollLeft + clientWidth < scrollWidth - 1;
}

/** What is wider than the page scrolls in itself, by keyboard too. Its edge fades where it goes on. */
export function Scroll({ name, children }: { name: string; children: ComponentChildren }) {
  const place = useRef<HTMLElement>(null);
  const [more, setMore] = useState(false);
  const look = () => {
    if (place.current !== null) setMore(goesOn(place.current));
  };
  useEffect(look);
  useEffect(() => {
    window.addEventListener("resize", look);
    return () => window.removeEventListener("resize", look);
  }, []);
  return (
    <section
      ref={place}
      class={more ? "scroll goes-on" : "scroll"}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label={`Table: ${name}`}
      onScroll={look}
    >
      {children}
    </section>
  );
}
