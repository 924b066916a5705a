import { useMemo } from "preact/hooks";
import type { Document } from "../model/document";
import { percent } from "../model/format";
import { intervals } from "../model/retraining";
import { groups, label } from "../model/rows";
import { DataTable } from "../parts/data-table";
import { DotPlot } from "../parts/dot-plot";
import { Behind, Section } from "../parts/section";

const figure = (value: number) => percent(value, 1);

/** Whether training on the additions helps, a plot for each set that the networks are judged on. */
export function Retraining({ document }: { document: Document }) {
  const table = document.tables.get("retraining");
  const shares = table?.columns.some(({ id, kind }) => id === "mean" && kind === "fraction") ?? false;
  const sets = useMemo(
    () =>
      [...groups(table?.rows ?? [], (row) => label(row.set))].map(([set, rows]) => {
        const items = intervals(rows, shares);
        return { set, items, before: items.find(({ name }) => name === "before")?.value };
      }),
    [table, shares],
  );
  if (table === undefined) return null;
  const more = ["differences", "runs", "criteria"].flatMap((id) => document.tables.get(id) ?? []);
  return (
    <Section
      id="retraining"
      title="Does it help to train on these records?"
      lead="Mean of the repeats with its 95 % interval, by what was added; open dots are without additions, the dashed line is the network as it was. Kinds whose intervals overlap widely are not told apart; the differences by repeat decide."
    >
      {sets.map(({ set, items, before }) => (
        <div key={set}>
          <h3>{set}</h3>
          <DotPlot
            title={`${table.title} on ${set}`}
            axis={table.title}
            items={items}
            reference={before}
            {...(shares ? { format: figure } : {})}
          />
        </div>
      ))}
      {[table, ...more].map((found) => (
        <Behind key={found.id} title={found.title}>
          <DataTable table={found} caption={false} />
        </Behind>
      ))}
    </Section>
  );
}
