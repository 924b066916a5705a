import { useMemo } from "preact/hooks";
import type { Document, Row } from "../model/document";
import { numeric } from "../model/format";
import { groups, label } from "../model/rows";
import { DataTable } from "../parts/data-table";
import { DotPlot, type Interval } from "../parts/dot-plot";
import { Behind, Section } from "../parts/section";

/** Rows with a figure, best first and baselines after the others. */
function intervals(
  rows: readonly Row[],
  name: string,
  value: string,
  colour: (row: Row) => string,
): readonly Interval[] {
  return rows
    .flatMap((row) => {
      const figure = numeric(row[value]);
      if (figure === undefined) return [];
      const low = numeric(row.low) ?? figure;
      const high = numeric(row.high) ?? figure;
      const baseline = row.baseline === true;
      return [{ name: label(row[name]), value: figure, low, high, colour: colour(row), baseline }];
    })
    .sort((a, b) => Number(a.baseline) - Number(b.baseline) || b.value - a.value);
}

const verdictColour = (row: Row): string => {
  const verdict = label(row.verdict);
  if (verdict.startsWith("tells")) return "var(--pass)";
  return verdict.startsWith("misleads") ? "var(--fail)" : "var(--quiet)";
};

/** Which criterion to believe: how each tracks the faults that subsets find. */
export function Verdicts({ document }: { document: Document }) {
  const table = document.tables.get("verdicts");
  const words = document.tables.get("words");
  const kinds = useMemo(
    () =>
      [...groups(table?.rows ?? [], (row) => label(row.faults))].map(([faults, rows]) => ({
        faults,
        items: intervals(rows, "criterion", "tau", verdictColour),
      })),
    [table],
  );
  if (table === undefined) return null;
  return (
    <Section
      id="verdicts"
      title="Does covering more mean finding more?"
      lead="Rank correlation between what subsets of one size and kind cover and the faults that they find, with 95 % intervals. Green: shown not to be chance; grey: not shown; red: covers more, finds less. Open dots are baselines."
    >
      {kinds.map(({ faults, items }) => (
        <div key={faults}>
          <h3>{faults}</h3>
          {items.length === 0 ? (
            <p class="quiet">No figures: subsets do not differ in the faults that they find.</p>
          ) : (
            <DotPlot
              title={`Kendall's tau with ${faults}`}
              axis="Kendall's tau"
              items={items}
              reference={0}
            />
          )}
        </div>
      ))}
      <Behind title="All figures">
        <DataTable table={table} />
        {words !== undefined && <DataTable table={words} />}
      </Behind>
    </Section>
  );
}

const orderColour = (row: Row): string => ((numeric(row.p) ?? 1) <= 0.05 ? "var(--pass)" : "var(--quiet)");

/** Whether choosing tests by a criterion finds faults earlier than random orders do. */
export function Orders({ document }: { document: Document }) {
  const table = document.tables.get("orders");
  const kinds = useMemo(
    () =>
      [...groups(table?.rows ?? [], (row) => label(row.faults))].map(([faults, rows]) => ({
        faults,
        items: intervals(rows, "order", "apfd", orderColour),
        random: numeric(rows[0]?.random) ?? 0.5,
      })),
    [table],
  );
  if (table === undefined) return null;
  return (
    <Section
      id="orders"
      title="Does choosing tests by it find faults earlier?"
      lead="Average percentage of faults detected by orders of the records, with 95 % intervals; the dashed line is the mean of random orders. Green: as good as few random orders are (p at most 0.05)."
    >
      {kinds.map(({ faults, items, random }) => (
        <div key={faults}>
          <h3>{faults}</h3>
          <DotPlot title={`APFD of ${faults}`} axis="APFD" items={items} reference={random} />
        </div>
      ))}
      <Behind title="All figures">
        <DataTable table={table} />
      </Behind>
    </Section>
  );
}
