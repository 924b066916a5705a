import { useMemo } from "preact/hooks";
import { area, asShares, curves } from "../model/curves";
import type { Document } from "../model/document";
import { percent } from "../model/format";
import { DataTable } from "../parts/data-table";
import { Multiples } from "../parts/multiples";
import { Behind, Section } from "../parts/section";

export function Apfd({ document }: { document: Document }) {
  const table = document.tables.get("apfd");
  const list = useMemo(
    () =>
      asShares(table === undefined ? [] : curves(table, "order", "records", "found"))
        .map((curve) => ({ ...curve, share: area(curve.points) ?? 0 }))
        .sort((a, b) => b.share - a.share)
        .map((curve) => ({ ...curve, figure: `area ${percent(curve.share)}` })),
    [table],
  );
  if (table === undefined) return null;
  return (
    <Section
      id="apfd"
      title="Orders of the test set"
      lead="Share of the misclassified records found after so many records, best order first. The area under a curve measures the order."
    >
      <Multiples curves={list} x="share of the records" y="faults found" />
      <Behind title={table.title}>
        <DataTable table={table} caption={false} />
      </Behind>
    </Section>
  );
}
