import type { Document, Row } from "./document";
import { numeric } from "./format";
import { groups, label } from "./rows";

/** A figure of two results. */
export interface Change {
  readonly name: string;
  readonly first: number;
  readonly second: number;
  readonly outcome: string;
}

export interface Changes {
  readonly figure: string;
  /** Those that differ: what is worse first, the greatest change before the others. */
  readonly changes: readonly Change[];
  readonly left: number;
}

const MOST = 20;
const RANKS = ["worse", "better"];
const rank = ({ outcome }: Change) => (RANKS.includes(outcome) ? RANKS.indexOf(outcome) : RANKS.length);
const size = ({ first, second }: Change) => Math.abs(second - first);

function change(row: Row): Change | undefined {
  const first = numeric(row.first);
  const second = numeric(row.second);
  if (first === undefined || second === undefined || first === second) return undefined;
  const layer = label(row.layer);
  const of = label(row.class);
  const parts = [layer === "all" ? "" : layer, of === "" ? "" : `class ${of}`, label(row.context)];
  return {
    name: parts.filter(Boolean).join(", ") || "in all",
    first,
    second,
    outcome: label(row.outcome),
  };
}

/** What differs between two results, by figure. */
export function comparison(document: Document): Changes[] {
  return [...groups(document.tables.get("figures")?.rows ?? [], (row) => label(row.figure))].flatMap(
    ([figure, rows]) => {
      const changes = rows
        .map(change)
        .filter((one) => one !== undefined)
        .sort((a, b) => rank(a) - rank(b) || size(b) - size(a));
      const left = Math.max(0, changes.length - MOST);
      return changes.length === 0 ? [] : [{ figure, changes: changes.slice(0, MOST), left }];
    },
  );
}
