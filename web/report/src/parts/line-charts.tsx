import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { percent, show } from "../model/format";
import type { Line } from "../model/lines";
import { Chart } from "./chart";
import { Name } from "./name";

interface Axes {
  /** Of times, their ticks tell what they are and need two lines: the axis has no name of its own. */
  readonly x: string;
  readonly y: string;
  /** Of shares: both axes begin at 0, and y ends at 1. */
  readonly shares?: boolean;
  /** Every chart ends where the longest line does. */
  readonly end?: number;
}

function LineChart({ line, axes: { x, y, shares, end } }: { line: Line; axes: Axes }) {
  const draw = useCallback(
    (width: number): Plot.PlotOptions => ({
      height: Math.max(150, Math.round(width * 0.52)),
      marginLeft: 52,
      marginRight: 24,
      marginTop: 10,
      marginBottom: 34,
      x: {
        ...(end === undefined ? {} : { domain: [0, end] }),
        ticks: 4,
        label: line.points[0]?.x instanceof Date ? null : x,
        labelAnchor: "right",
        labelArrow: "none",
        tickSize: 3,
      },
      y: {
        ...(shares ? { domain: [0, 1], tickFormat: (tick: number) => percent(tick, 0) } : { nice: true }),
        ticks: 4,
        label: null,
        tickSize: 0,
      },
      marks: [
        Plot.gridY({ ticks: 4, stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.line(line.points, { x: "x", y: "y", stroke: "var(--accent)", strokeWidth: 2 }),
        Plot.dot(line.points, { x: "x", y: "y", r: 2.5, fill: "var(--accent)" }),
      ],
    }),
    [line, x, shares, end],
  );
  const ends = [line.points[0], line.points.at(-1)].map((point) =>
    shares ? percent(point?.y ?? 0) : show(point?.y, "number"),
  );
  return (
    <li class="multiple">
      <h3>
        <span>
          <Name of={line.name} />
        </span>{" "}
        <span class="figure">{line.figure}</span>
      </h3>
      <Chart name={`${line.name}: ${y} by ${x}, from ${ends.join(" to ")}`} minimum={220} draw={draw} />
    </li>
  );
}

/** One chart for each line. */
export function LineCharts({ lines, ...axes }: { lines: readonly Line[] } & Axes) {
  if (lines.length === 0) return <p class="quiet">No figure has a second value yet.</p>;
  return (
    <ul class="multiples multiples-wide">
      {lines.map((line) => (
        <LineChart key={line.name} line={line} axes={axes} />
      ))}
    </ul>
  );
}
