import type { Cell } from "./document";
import { numeric } from "./format";

export interface Cluster {
  readonly centroid: number;
  readonly records: number | undefined;
}

/** "0.124 (512)  0.871 (88)" as clusters in order. */
export function clusters(cell: Cell | undefined): Cluster[] {
  if (typeof cell !== "string") return [];
  const result: Cluster[] = [];
  for (const [, centre, records] of cell.matchAll(/(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?:\((\d+)\))?/gi)) {
    const centroid = numeric(centre ?? null);
    if (centroid !== undefined) result.push({ centroid, records: numeric(records ?? null) });
  }
  return result;
}

/** "2.0.1": for each important neuron, by rank, the cluster its activation fell into. */
export function combination(cell: Cell | undefined): number[] {
  if (typeof cell === "number") return [cell];
  if (typeof cell !== "string" || !/^\d+([.,-]\d+)*$/.test(cell)) return [];
  return cell.split(/[.,-]/).map(Number);
}
