import type { Document, Row } from "../model/document";
import { numeric, show } from "../model/format";
import { label } from "../model/rows";
import { DataTable } from "../parts/data-table";
import { Behind, Section } from "../parts/section";
import { Shares } from "../parts/shares";

const DISTANCES = ["l0", "l2", "linf"] as const;

function distances(row: Row): string {
  const known = DISTANCES.filter((id) => numeric(row[id]) !== undefined);
  return known.length === 0
    ? ""
    : `mean ${known.map((id) => `L${id === "linf" ? "∞" : id.slice(1)} ${show(row[id] ?? null, "number")}`).join(", ")}`;
}

/** How often each attack changes the decision, and at what distance. */
export function Attacks({ document }: { document: Document }) {
  const table = document.tables.get("attacks");
  if (table === undefined) return null;
  return (
    <Section
      id="attacks"
      title="How often is the network misled?"
      lead="Share of the attacked records whose decision the attack changes. At equal success a smaller distance is the stronger attack."
    >
      <Shares
        items={table.rows.map((row) => ({
          name: label(row.attack),
          share: numeric(row.success),
          counts: `${show(row.successes ?? null, "count")} of ${show(row.records ?? null, "count")} records`,
          text: distances(row),
        }))}
      />
      <Behind title="All figures">
        <DataTable table={table} caption={false} />
      </Behind>
    </Section>
  );
}
