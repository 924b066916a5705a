import type { Document } from "../model/document";
import { DataTable } from "../parts/data-table";
import { Section } from "../parts/section";

const TABLES = ["idc", "clusters", "uncovered", "combinations"];

/** The tables of importance-driven coverage, each leading to its layers, neurons and combinations. */
export function Importance({ document }: { document: Document }) {
  const tables = TABLES.map((id) => document.tables.get(id))
    .filter((table) => table !== undefined)
    .filter(({ rows }) => rows.length > 0);
  return (
    <Section
      id="importance"
      title="Importance-driven coverage"
      lead="The neurons that decide, the clusters of their activations, and the combinations of clusters that the test set reached and missed."
    >
      {tables.map((table) => (
        <DataTable key={table.id} table={table} page={10} />
      ))}
    </Section>
  );
}
