import type { Fact, Row, Table } from "./document";
import { numeric } from "./format";
import { has } from "./rows";

export interface Ranking {
  readonly id: string;
  readonly title: string;
  /** Measure shown under each record. */
  readonly measure?: string;
  readonly rows: readonly Row[];
  /** Records that the order is of, listed or not. */
  readonly total: number;
}

const MEASURES = [
  { id: "dsa", title: "Most surprising by DSA" },
  { id: "lsa", title: "Most surprising by LSA" },
  { id: "gini", title: "Least certain by Gini" },
];

const isWrong = (row: Row) =>
  row.misclassified === true || row.misclassified === 1 || row.misclassified === "yes";

/** Surprise may be infinite: such a record comes first. */
const rank = (row: Row, id: string) => (row[id] === "Infinity" ? Number.POSITIVE_INFINITY : numeric(row[id]));

function descending(rows: readonly Row[], id: string): Row[] {
  const known = rows.filter((row) => rank(row, id) !== undefined);
  return known.sort((a, b) => {
    const [x, y] = [rank(a, id) ?? 0, rank(b, id) ?? 0];
    return x === y ? 0 : y - x;
  });
}

/** The orders in which records are worth a look: misclassified with most confidence first, then by each measure. */
export function rankings(table: Table, facts: readonly Fact[] = []): Ranking[] {
  const result: Ranking[] = [];
  const counted = (id: string, rows: readonly Row[]) =>
    Math.max(numeric(facts.find((fact) => fact.id === id)?.value) ?? 0, rows.length);
  const wrong = table.rows.filter(isWrong);
  if (wrong.length > 0) {
    const rows = has(table, "confidence") ? [...descending(wrong, "confidence")] : wrong;
    result.push({
      id: "misclassified",
      title: "Misclassified",
      measure: "confidence",
      rows: rows.length === wrong.length ? rows : wrong,
      total: counted("misclassified", wrong),
    });
  }
  for (const { id, title } of MEASURES) {
    const rows = descending(table.rows, id);
    if (rows.length > 0) result.push({ id, title, measure: id, rows, total: counted("records", rows) });
  }
  if (result.length === 0 && table.rows.length > 0)
    result.push({ id: "all", title: "Records", rows: table.rows, total: counted("records", table.rows) });
  return result;
}
