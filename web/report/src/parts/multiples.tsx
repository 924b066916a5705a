import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { percent } from "../model/format";
import { Chart } from "./chart";
import { Name } from "./name";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Curve {
  readonly name: string;
  readonly points: readonly Point[];
  /** Shown at the curve's name. */
  readonly figure: string;
}

interface Options {
  readonly curve: Curve;
  readonly all: readonly Curve[];
  readonly x: string;
  readonly y: string;
  readonly end: number;
  readonly format: (value: number) => string;
}

function Small({ curve, all, x, y, end, format }: Options) {
  const draw = useCallback(
    (width: number): Plot.PlotOptions => ({
      height: Math.max(130, Math.round(width * 0.52)),
      marginLeft: 46,
      marginRight: 24,
      marginTop: 10,
      marginBottom: 32,
      x: { domain: [0, end], ticks: 4, label: x, labelAnchor: "right", labelArrow: "none", tickSize: 3 },
      y: {
        domain: [0, 1],
        ticks: [0, 0.5, 1],
        tickFormat: (tick: number) => format(tick).replace(/(\.\d*[1-9])0+$/, "$1"),
        label: null,
        tickSize: 0,
      },
      marks: [
        Plot.gridY([0, 0.5, 1], { stroke: "var(--line)", strokeOpacity: 1 }),
        ...all
          .filter((other) => other !== curve)
          .map((other) =>
            Plot.line(other.points, { x: "x", y: "y", stroke: "var(--ghost)", strokeWidth: 1 }),
          ),
        Plot.areaY(curve.points, { x: "x", y: "y", fill: "var(--accent)", fillOpacity: 0.08 }),
        Plot.line(curve.points, { x: "x", y: "y", stroke: "var(--accent)", strokeWidth: 2 }),
        Plot.dot(curve.points.slice(-1), { x: "x", y: "y", r: 3, fill: "var(--accent)" }),
      ],
    }),
    [curve, all, x, end, format],
  );
  const last = curve.points.at(-1);
  const name = `${curve.name}: ${y} by ${x}${last === undefined ? "" : `, ends at ${format(last.y)}`}`;
  return (
    <li class="multiple">
      <h3>
        <span>
          <Name of={curve.name} />
        </span>{" "}
        <span class="figure">{curve.figure}</span>
      </h3>
      <Chart name={name} minimum={200} draw={draw} />
    </li>
  );
}

const whole = (value: number) => percent(value, 0);

/** One small chart for each curve, all on the same scales from 0 to 1, the others in grey behind it. */
export function Multiples({
  curves,
  x,
  y,
  format = whole,
}: {
  curves: readonly Curve[];
  x: string;
  y: string;
  format?: (value: number) => string;
}) {
  const end = Math.max(1, ...curves.flatMap(({ points }) => points.map((point) => point.x)));
  return (
    <ul class="multiples">
      {curves.map((curve) => (
        <Small key={curve.name} curve={curve} all={curves} x={x} y={y} end={end} format={format} />
      ))}
    </ul>
  );
}
