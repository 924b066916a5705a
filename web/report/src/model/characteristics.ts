import type { Row, Table } from "./document";
import { numeric } from "./format";
import { groups, label } from "./rows";

const SIGNIFICANT = 0.05;

/** Figures of groups of records with their intervals, by figure; a low p colours a dot, none leaves it open. */
export function figuresByGroup(table: Table) {
  return [...groups(table.rows, (row) => label(row.figure))].map(([figure, rows]) => ({
    figure,
    items: rows.flatMap((row) => item(row)),
  }));
}

function item(row: Row) {
  const value = numeric(row.value);
  if (value === undefined) return [];
  const p = numeric(row.p);
  return [
    {
      name: label(row.group),
      value,
      low: numeric(row.low) ?? value,
      high: numeric(row.high) ?? value,
      colour: p !== undefined && p < SIGNIFICANT ? "var(--accent)" : "var(--quiet)",
      baseline: p === undefined,
    },
  ];
}
