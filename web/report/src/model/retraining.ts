import type { Row } from "./document";
import { numeric } from "./format";
import { label } from "./rows";

const BASELINES: ReadonlySet<string> = new Set(["none", "before"]);

const share = (value: number) => Math.min(1, Math.max(0, value));

/** Means with their intervals, of shares as far as shares go; `before` is one figure without repeats. */
export function intervals(rows: readonly Row[], shares: boolean) {
  const end = shares ? share : (value: number) => value;
  return rows.flatMap((row) => {
    const value = numeric(row.mean);
    if (value === undefined) return [];
    const name = label(row.condition);
    const baseline = BASELINES.has(name);
    return [
      {
        name,
        value,
        low: end(numeric(row.low) ?? value),
        high: end(numeric(row.high) ?? value),
        colour: baseline ? "var(--quiet)" : "var(--accent)",
        baseline,
      },
    ];
  });
}
