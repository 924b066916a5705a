import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { Drop } from "../model/drops";
import { percent } from "../model/format";
import { Chart } from "./chart";

/** Accuracy by severity with the band of its intervals; dashed at the clean accuracy and at half of it. */
export function DropChart({ drop }: { drop: Drop }) {
  const draw = useCallback(
    (width: number): Plot.PlotOptions => {
      const { points, clean, half, option } = drop;
      const levels = clean === undefined ? [] : [clean, clean / 2];
      return {
        height: Math.max(190, Math.round(width * 0.52)),
        marginLeft: 46,
        marginRight: 24,
        marginTop: 10,
        marginBottom: 34,
        x: { ticks: 5, label: option, labelAnchor: "right", labelArrow: "none", tickSize: 3 },
        y: {
          domain: [0, 1],
          ticks: [0, 0.25, 0.5, 0.75, 1],
          tickFormat: (tick: number) => percent(tick, 0),
          label: null,
          tickSize: 0,
        },
        marks: [
          Plot.gridY([0, 0.25, 0.5, 0.75, 1], { stroke: "var(--line)", strokeOpacity: 1 }),
          Plot.areaY(points, {
            x: "severity",
            y1: "low",
            y2: "high",
            fill: "var(--accent)",
            fillOpacity: 0.16,
          }),
          Plot.ruleY(levels, { stroke: "var(--quiet)", strokeDasharray: "3,3" }),
          Plot.line(points, { x: "severity", y: "accuracy", stroke: "var(--accent)", strokeWidth: 2 }),
          Plot.dot(points, { x: "severity", y: "accuracy", r: 2.5, fill: "var(--accent)" }),
          ...(half === undefined || clean === undefined
            ? []
            : [
                Plot.dot([{ half, at: clean / 2 }], {
                  x: "half",
                  y: "at",
                  r: 4.5,
                  stroke: "var(--test)",
                  strokeWidth: 2,
                  fill: "var(--page)",
                }),
              ]),
        ],
      };
    },
    [drop],
  );
  return (
    <Chart name={`${drop.name}: accuracy by ${drop.option}, ${drop.figure}`} minimum={240} draw={draw} />
  );
}
