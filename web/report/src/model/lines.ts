import type { Document, Row, Table } from "./document";
import { number, numeric } from "./format";
import { groups, label, rowsWhere } from "./rows";

export interface LinePoint {
  readonly x: number | Date;
  readonly y: number;
}

export interface Line {
  readonly name: string;
  readonly points: readonly LinePoint[];
  /** Shown at the line's name. */
  readonly figure: string;
}

function lines(
  table: Table | undefined,
  name: (row: Row) => string,
  point: (row: Row) => { x: number | Date | undefined; y: number | undefined },
  figure: (rows: readonly Row[]) => string,
): Line[] {
  return [...groups(table?.rows ?? [], name)].map(([of, rows]) => ({
    name: of,
    figure: figure(rows),
    points: rows
      .map(point)
      .filter((one): one is LinePoint => one.x !== undefined && one.y !== undefined)
      .sort((a, b) => Number(a.x) - Number(b.x)),
  }));
}

function time(row: Row): Date | undefined {
  const found = new Date(label(row.finished));
  return Number.isNaN(found.getTime()) ? undefined : found;
}

/** What becomes of a class while positions go or come, by method and measure. */
export function explanationCurves(document: Document): Line[] {
  const means = document.tables.get("explanations");
  return lines(
    document.tables.get("points"),
    (row) => `${label(row.method)}, ${label(row.measure)}`,
    (row) => ({ x: numeric(row.share), y: numeric(row.probability) }),
    ([first]) => {
      const own = rowsWhere(means, "method", label(first?.method));
      const mean = numeric(own.find(({ measure }) => measure === first?.measure)?.mean);
      return mean === undefined ? "" : `mean ${number(mean)}`;
    },
  );
}

/** Each figure of a history over time; one value is not a line. */
export function trends(document: Document): Line[] {
  return lines(
    document.tables.get("values"),
    (row) => [row.network, row.command, row.figure].map(label).join(", "),
    (row) => ({ x: time(row), y: numeric(row.value) }),
    (rows) => number(numeric(rows.at(-1)?.value) ?? Number.NaN),
  ).filter(({ points }) => points.length > 1);
}

/** Share of records that stay right within a radius: proved, and as far as attacks tell. */
export function radii(document: Document): Line[] {
  const table = document.tables.get("radii");
  return [
    { name: "proved", column: "certified" },
    { name: "not broken by an attack", column: "attacked" },
  ].flatMap(({ name, column }) =>
    lines(
      table,
      () => name,
      (row) => {
        const share = numeric(row.share);
        return { x: numeric(row[column]), y: share === undefined ? undefined : 1 - share };
      },
      () => {
        const median = numeric(table?.rows.find(({ share }) => share === 0.5)?.[column]);
        return median === undefined ? "" : `half of them up to ${number(median)}`;
      },
    ).filter(({ points }) => points.length > 1),
  );
}
