import * as Plot from "@observablehq/plot";
import { useEffect, useRef, useState } from "preact/hooks";

/** Draws at the width there is; colours are CSS variables, so that the picture follows theme and print. */
export function Chart({
  name,
  minimum = 240,
  draw,
}: {
  name: string;
  minimum?: number;
  draw: (width: number) => Plot.PlotOptions;
}) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(minimum, Math.floor(element.clientWidth))));
    observer.observe(element);
    return () => observer.disconnect();
  }, [minimum]);
  useEffect(() => {
    if (width === 0 || host.current === null) return;
    const figure = Plot.plot({
      ...draw(width),
      width,
      style: { background: "none", fontFamily: "inherit", fontSize: "11.5px" },
    });
    figure.setAttribute("role", "img");
    figure.setAttribute("aria-label", name);
    // Plot names its marks by aria-label, which elements without a role may not have.
    for (const mark of figure.querySelectorAll("g[aria-label]")) {
      mark.setAttribute("data-mark", mark.getAttribute("aria-label") ?? "");
      mark.removeAttribute("aria-label");
    }
    host.current.replaceChildren(figure);
  }, [width, draw, name]);
  return <div class="chart" ref={host} />;
}
