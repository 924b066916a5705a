import type { Document, Row } from "../model/document";
import { numeric, percent, plural, show } from "../model/format";
import { label } from "../model/rows";
import { DataTable } from "../parts/data-table";
import { Behind, Section } from "../parts/section";
import { Shares } from "../parts/shares";

/** Of two networks each disagrees with the other. */
const noneIsOdd = (rows: readonly Row[]) => rows.every((row) => (numeric(row.odd) ?? 0) === 0);

const findingsOf = (document: Document) => numeric(document.facts.find(({ id }) => id === "findings")?.value);

function whichFirst(rows: readonly Row[], findings: number | undefined): string {
  if (findings === 0) return "They disagree on no record that was found.";
  if (!noneIsOdd(rows)) return "How often a network disagrees with most tells which one to look at first.";
  return rows.length === 2
    ? "Of two networks each disagrees with the other; a third one would tell which to look at first."
    : "No finding has a majority that one of them contradicts.";
}

/** Which networks the findings are about, and what of each they cover. */
export function Exploration({ document }: { document: Document }) {
  const table = document.tables.get("networks");
  if (table === undefined) return null;
  const more = ["answers", "endings", "rounds", "findings"].flatMap((id) => {
    const found = document.tables.get(id);
    return found === undefined || found.rows.length === 0 ? [] : [found];
  });
  return (
    <Section
      id="networks"
      title="Where do the networks disagree?"
      lead={`Coverage of each network by the findings. ${whichFirst(table.rows, findingsOf(document))}`}
    >
      <Shares
        items={table.rows.map((row) => ({
          name: label(row.network),
          share: numeric(row.after),
          counts: `${show(row.covered ?? null, "count")} of ${show(row.coverable ?? null, "count")} items, ${percent(numeric(row.before) ?? 0)} before`,
          text: [
            ...(numeric(row.odd) === undefined || noneIsOdd(table.rows)
              ? []
              : [`disagrees with most in ${plural(numeric(row.odd) ?? 0, "finding")}`]),
            ...(numeric(row.pushed) === undefined
              ? []
              : [`was pushed away in ${plural(numeric(row.pushed) ?? 0, "finding")}`]),
          ].join("; "),
        }))}
      />
      <Behind title="Networks">
        <DataTable table={table} caption={false} />
      </Behind>
      {more.map((found) => (
        <Behind key={found.id} title={`${found.title} (${plural(found.rows.length, "row")})`}>
          <DataTable table={found} caption={false} />
        </Behind>
      ))}
    </Section>
  );
}
