import type { Cell, Column, Row, Table } from "./document";
import { numeric, show } from "./format";

export interface Order {
  readonly column: string;
  readonly descending: boolean;
}

/** What is not applicable comes last in either direction; numbers before text; text in natural order. */
const collator = new Intl.Collator("en", { numeric: true });

function compare(a: Cell | undefined, b: Cell | undefined): number {
  const x = typeof a === "boolean" ? Number(a) : numeric(a);
  const y = typeof b === "boolean" ? Number(b) : numeric(b);
  if (x !== undefined && y !== undefined) return x - y;
  if (x !== undefined) return -1;
  if (y !== undefined) return 1;
  return collator.compare(String(a), String(b));
}

const absent = (cell: Cell | undefined) => cell === null || cell === undefined || cell === "";

export function sorted(rows: readonly Row[], order: Order | undefined): readonly Row[] {
  if (order === undefined) return rows;
  const sign = order.descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = a[order.column];
    const y = b[order.column];
    if (absent(x) || absent(y)) return Number(absent(x)) - Number(absent(y));
    return sign * compare(x, y);
  });
}

/** Rows of which some cell, as shown, holds every word of the query. */
export function filtered(rows: readonly Row[], columns: readonly Column[], query: string): readonly Row[] {
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (parts.length === 0) return rows;
  return rows.filter((row) => {
    const text = columns
      .map(({ id, kind }) => `${show(row[id], kind).replaceAll("\u00a0", " ")} ${row[id]}`.toLowerCase())
      .join("\n");
    return parts.every((part) => text.includes(part));
  });
}

export function has(table: Table | undefined, ...columns: string[]): table is Table {
  return table !== undefined && columns.every((id) => table.columns.some((column) => column.id === id));
}

export const fractions = (table: Table | undefined): readonly Column[] =>
  table?.columns.filter(({ kind }) => kind === "fraction") ?? [];

export function groups<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const result = new Map<string, T[]>();
  for (const item of items) {
    const name = key(item);
    const group = result.get(name);
    if (group === undefined) result.set(name, [item]);
    else group.push(item);
  }
  return result;
}

export const label = (cell: Cell | undefined): string => (absent(cell) ? "" : String(cell));

/** Names and colours of the legend of pictures; only what is a colour, since a document may hold anything. */
export const coloursOf = (table: Table | undefined): readonly (readonly [string, string])[] =>
  (table?.rows ?? [])
    .map((row) => [label(row.class), label(row.colour)] as const)
    .filter(([, colour]) => /^#[0-9a-f]{6}$/.test(colour));

/** Index by one column, made once per table. */
const indices = new WeakMap<Table, Map<string, Map<string, Row[]>>>();
export function rowsWhere(table: Table | undefined, column: string, value: string): readonly Row[] {
  if (table === undefined) return [];
  let byColumn = indices.get(table);
  if (byColumn === undefined) {
    byColumn = new Map();
    indices.set(table, byColumn);
  }
  let index = byColumn.get(column);
  if (index === undefined) {
    index = groups(table.rows, (row) => label(row[column]));
    byColumn.set(column, index);
  }
  return index.get(value) ?? [];
}
