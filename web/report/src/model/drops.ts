import type { Document } from "./document";
import { numeric, percent, show } from "./format";
import { groups, label, rowsWhere } from "./rows";

export interface DropPoint {
  readonly severity: number;
  readonly accuracy: number;
  readonly low: number;
  readonly high: number;
}

export interface Drop {
  readonly name: string;
  readonly option: string;
  readonly points: readonly DropPoint[];
  readonly clean: number | undefined;
  readonly half: number | undefined;
  /** Shown at the curve's name. */
  readonly figure: string;
}

/** Drop curves in the order of the document, each with its points by severity; without intervals low and high are the accuracy. */
export function drops(document: Document): Drop[] {
  const table = document.tables.get("severities");
  if (table === undefined) return [];
  const clean = numeric(document.facts.find(({ id }) => id === "clean_accuracy")?.value);
  return [...groups(table.rows, (row) => label(row.curve))].map(([name, rows]) => {
    const points = rows
      .flatMap((row) => {
        const severity = numeric(row.severity);
        const accuracy = numeric(row.accuracy);
        if (severity === undefined || accuracy === undefined) return [];
        return [
          { severity, accuracy, low: numeric(row.low) ?? accuracy, high: numeric(row.high) ?? accuracy },
        ];
      })
      .sort((a, b) => a.severity - b.severity);
    const [figures] = rowsWhere(document.tables.get("curves"), "curve", name);
    const area = numeric(figures?.area);
    const half = numeric(figures?.half_drop);
    const first = numeric(rows[0]?.accuracy);
    const before = clean !== undefined && first !== undefined && first <= clean / 2;
    const end =
      half !== undefined
        ? `half at ${show(half, "number")}`
        : before
          ? `half before ${show(rows[0]?.severity, "number")}`
          : "half not reached";
    return {
      name,
      option: label(rows[0]?.option) || "severity",
      points,
      clean,
      half,
      figure: area === undefined ? end : `area ${percent(area)}, ${end}`,
    };
  });
}
