import type { Row, Table } from "./document";
import { numeric } from "./format";
import { label } from "./rows";

export interface Affinity {
  readonly unit: string;
  readonly score: number;
  readonly row: Row;
}

export interface Line {
  readonly hypothesis: string;
  /** By unit. */
  readonly scores: ReadonlyMap<string, Affinity>;
  readonly strongest: number;
}

export interface Matrix {
  readonly lines: readonly Line[];
  /** Units, the strongest anywhere first. */
  readonly units: readonly string[];
  /** What the strongest colour stands for: 1, or the strongest score where scores leave [-1, 1]. */
  readonly scale: number;
}

/** Network and group, as they are chosen together. */
export const groupOf = (row: Row): string => {
  const [model, group] = [label(row.model), label(row.group)];
  return model === "" ? group : `${model}: ${group}`;
};

/** The group with the strongest score by the measure; "" where there is none. */
export function strongestGroup(table: Table, measure: string): string {
  let [group, strongest] = ["", -1];
  for (const row of table.rows) {
    const size = Math.abs(numeric(row.score) ?? Number.NaN);
    if (label(row.unit) === "" || label(row.measure) !== measure || !(size > strongest)) continue;
    [group, strongest] = [groupOf(row), size];
  }
  return group;
}

/** Scores of units of one group by one measure, as lines of hypotheses. */
export function matrix(table: Table, group: string, measure: string): Matrix {
  const lines = new Map<string, Map<string, Affinity>>();
  const best = new Map<string, number>();
  for (const row of table.rows) {
    const score = numeric(row.score);
    const unit = label(row.unit);
    if (score === undefined || unit === "" || groupOf(row) !== group || label(row.measure) !== measure)
      continue;
    const hypothesis = label(row.hypothesis);
    const line = lines.get(hypothesis) ?? new Map<string, Affinity>();
    lines.set(hypothesis, line.set(unit, { unit, score, row }));
    best.set(unit, Math.max(best.get(unit) ?? 0, Math.abs(score)));
  }
  const strongest = Math.max(0, ...best.values());
  return {
    lines: [...lines].map(([hypothesis, scores]) => ({
      hypothesis,
      scores,
      strongest: Math.max(0, ...[...scores.values()].map(({ score }) => Math.abs(score))),
    })),
    units: [...best].sort(([a, x], [b, y]) => y - x || Number(a) - Number(b)).map(([unit]) => unit),
    scale: Math.max(strongest, 1),
  };
}

/** Numbers separated by commas; what is none is undefined. */
export const numbers = (cell: Row[string] | undefined): (number | undefined)[] =>
  label(cell) === "" ? [] : label(cell).split(",").map(numeric);

/** Symbols as a JSON list of texts. */
export function symbols(cell: Row[string] | undefined): string[] {
  try {
    const list: unknown = JSON.parse(label(cell));
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}
