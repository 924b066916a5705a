import { useMemo } from "preact/hooks";
import { type Change, comparison } from "../model/comparison";
import type { Document } from "../model/document";
import { plural } from "../model/format";
import { DataTable } from "../parts/data-table";
import { DotPlot } from "../parts/dot-plot";
import { Section } from "../parts/section";

const COLOURS: Readonly<Record<string, string>> = { worse: "var(--fail)", better: "var(--pass)" };

const interval = ({ name, first, second, outcome }: Change) => ({
  name,
  value: second,
  low: Math.min(first, second),
  high: Math.max(first, second),
  colour: COLOURS[outcome] ?? "var(--quiet)",
  baseline: outcome !== "worse",
});

/** Two results side by side: what differs, and all of their figures. */
export function Comparison({ document }: { document: Document }) {
  const figures = useMemo(() => comparison(document), [document]);
  const table = document.tables.get("figures");
  return (
    <Section
      id="figures"
      title="What is better, what is worse?"
      lead="The dot is the second result, its line begins at the first. Filled and red: the second is worse; open and green: it is better. Figures that are the same, or of one result alone, are only in the table."
    >
      {figures.map(({ figure, changes, left }) => (
        <div key={figure}>
          <h3>{figure}</h3>
          <DotPlot
            title={`${figure}, first and second`}
            axis={figure}
            items={changes.map(interval)}
            reference={undefined}
          />
          {left > 0 && <p class="quiet">{plural(left, "more figure")} that changed in the table.</p>}
        </div>
      ))}
      {table !== undefined && <DataTable table={table} />}
    </Section>
  );
}
