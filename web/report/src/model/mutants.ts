import type { Row, Table } from "./document";
import { numeric } from "./format";
import { groups, label } from "./rows";

export interface Tally {
  readonly killed: number;
  readonly judged: number;
  readonly share: number | undefined;
}

/** Killed among those that ran: mutants that were skipped or broken say nothing of the test set. */
export function tally(rows: readonly Row[]): Tally {
  const status = (row: Row) => label(row.status).toLowerCase();
  const killed = rows.filter((row) => status(row) === "killed").length;
  const judged = rows.filter((row) => status(row) === "killed" || status(row) === "survived").length;
  if (judged > 0) return { killed, judged, share: killed / judged };
  const scores = rows.map((row) => numeric(row.score)).filter((score) => score !== undefined);
  const sum = scores.reduce((a, b) => a + b, 0);
  return { killed, judged, share: scores.length === 0 ? undefined : sum / scores.length };
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
