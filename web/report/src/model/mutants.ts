import type { Row, Table } from "./document";
import { numeric } from "./format";
import { groups, label } from "./rows";

export interface Tally {
  readonly killed: number;
  readonly judged: number;
  readonly share: number | undefined;
  /** Whether killed mutants count by the share of classes that kill them, so that the share is less than killed of judged. */
  readonly byClass: boolean;
}

/**
 * The mean score of the mutants that ran, where they have scores; else killed among them. Mutants that were skipped, broken
 * or left out say nothing of the test set.
 */
export function tally(rows: readonly Row[]): Tally {
  const status = (row: Row) => label(row.status).toLowerCase();
  const killed = rows.filter((row) => status(row) === "killed").length;
  const ran = rows.filter((row) => status(row) === "killed" || status(row) === "survived");
  const scores = (ran.length > 0 ? ran : rows)
    .map((row) => numeric(row.score))
    .filter((score) => score !== undefined);
  const sum = scores.reduce((a, b) => a + b, 0);
  const byClass = ran.some((row) => status(row) === "killed" && (numeric(row.score) ?? 1) < 1);
  if (scores.length > 0) return { killed, judged: ran.length, share: sum / scores.length, byClass };
  return { killed, judged: ran.length, share: ran.length === 0 ? undefined : killed / ran.length, byClass };
}

export interface MutantMap {
  readonly layers: readonly string[];
  readonly operators: readonly string[];
  readonly at: (operator: string, layer: string) => Tally | undefined;
}

export function mutantMap(table: Table): MutantMap {
  const key = (operator: string, layer: string) => JSON.stringify([operator, layer]);
  const cells = groups(table.rows, (row) => key(label(row.operator), label(row.layer)));
  return {
    layers: [...groups(table.rows, (row) => label(row.layer)).keys()],
    operators: [...groups(table.rows, (row) => label(row.operator)).keys()],
    at: (operator, layer) => {
      const rows = cells.get(key(operator, layer));
      return rows === undefined ? undefined : tally(rows);
    },
  };
}
