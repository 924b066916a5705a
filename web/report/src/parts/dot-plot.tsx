import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { Chart } from "./chart";

/** A figure with its interval. */
export interface Interval {
  readonly name: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly colour: string;
  /** Drawn as an open dot. */
  readonly baseline: boolean;
}

/** Dots with their intervals, a line each; a dashed line at the figure that they are compared with. */
export function DotPlot({
  title,
  axis,
  items,
  reference,
  format,
}: {
  title: string;
  axis: string;
  items: readonly Interval[];
  reference: number | undefined;
  format?: (value: number) => string;
}) {
  const draw = useCallback(
    (width: number): Plot.PlotOptions => ({
      height: 60 + 20 * items.length,
      marginLeft: Math.min(190, width / 2),
      marginRight: 28,
      marginTop: 34,
      x: {
        label: axis,
        axis: "top",
        nice: true,
        ticks: Math.max(3, Math.floor(width / 130)),
        ...(format === undefined ? {} : { tickFormat: format }),
      },
      y: { label: null, domain: items.map(({ name }) => name), tickSize: 0 },
      marks: [
        Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.ruleX(reference === undefined ? [] : [reference], {
          stroke: "var(--quiet)",
          strokeDasharray: "3,3",
        }),
        Plot.ruleY(items, { y: "name", x1: "low", x2: "high", stroke: "colour", strokeWidth: 1.5 }),
        Plot.dot(items, {
          y: "name",
          x: "value",
          r: 4,
          stroke: "colour",
          fill: (item: Interval) => (item.baseline ? "var(--page)" : item.colour),
        }),
      ],
      color: { type: "identity" },
    }),
    [items, axis, reference, format],
  );
  return <Chart name={title} draw={draw} minimum={280} />;
}
