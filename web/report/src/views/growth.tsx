import { useMemo } from "preact/hooks";
import { curves } from "../model/curves";
import type { Document } from "../model/document";
import { percent } from "../model/format";
import { DataTable } from "../parts/data-table";
import { Multiples } from "../parts/multiples";
import { Behind, Section } from "../parts/section";

export function Growth({ document }: { document: Document }) {
  const table = document.tables.get("growth");
  const list = useMemo(
    () =>
      (table === undefined ? [] : curves(table, "criterion", "records", "coverage")).map((curve) => ({
        ...curve,
        figure: percent(curve.points.at(-1)?.y ?? 0),
      })),
    [table],
  );
  if (table === undefined) return null;
  return (
    <Section
      id="growth"
      title="Growth"
      lead="Coverage after so many records. A curve that is flat at its end says that more of these records add little."
    >
      <Multiples curves={list} x="records" y="coverage" />
      <Behind title={table.title}>
        <DataTable table={table} caption={false} />
      </Behind>
    </Section>
  );
}
