import type { Table } from "./document";
import { numeric } from "./format";
import { groups, label } from "./rows";

export interface Points {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** Curves by name, each sorted by x and starting at the origin. */
export function curves(table: Table, name: string, x: string, y: string): Points[] {
  return [...groups(table.rows, (row) => label(row[name]))].map(([of, rows]) => {
    const points = rows
      .map((row) => ({ x: numeric(row[x]), y: numeric(row[y]) }))
      .filter((point): point is { x: number; y: number } => point.x !== undefined && point.y !== undefined)
      .sort((a, b) => a.x - b.x);
    return { name: of, points: points[0]?.x === 0 ? points : [{ x: 0, y: 0 }, ...points] };
  });
}

/** Area under a curve of shares over [0, end], by trapezoids, as a share of `end`. */
export function area(points: Points["points"]): number | undefined {
  const end = points.at(-1)?.x ?? 0;
  if (end <= 0) return undefined;
  let sum = 0;
  points.forEach((point, i) => {
    const before = points[i - 1];
    if (before !== undefined) sum += ((point.y + before.y) / 2) * (point.x - before.x);
  });
  return sum / end;
}

/** Curves with the y values brought to shares of the largest, for counts; shares stay. */
export function asShares(list: readonly Points[]): Points[] {
  const largest = Math.max(0, ...list.flatMap(({ points }) => points.map(({ y }) => y)));
  if (largest <= 1) return [...list];
  return list.map(({ name, points }) => ({
    name,
    points: points.map(({ x, y }) => ({ x, y: y / largest })),
  }));
}

/** Sizes of scores after so many records; what was read as one block has no course and is left out. */
export function courses(table: Table): Points[] {
  const sizes = curves(table, "unit", "records", "score").map(({ name, points }) => ({
    name,
    points: points.filter(({ x }) => x > 0).map(({ x, y }) => ({ x, y: Math.abs(y) })),
  }));
  return asShares(sizes).filter(({ points }) => points.length > 1);
}
