import { useMemo } from "preact/hooks";
import type { Document } from "../model/document";
import { radii } from "../model/lines";
import { DataTable } from "../parts/data-table";
import { LineCharts } from "../parts/line-charts";
import { Behind, Section } from "../parts/section";

/** How far records can be changed without changing what is decided. */
export function Radii({ document }: { document: Document }) {
  const lines = useMemo(() => radii(document), [document]);
  const end = Math.max(0, ...lines.flatMap(({ points }) => points.map(({ x }) => Number(x))));
  const table = document.tables.get("radii");
  return (
    <Section
      id="radii"
      title="Within which radius do records stay right?"
      lead="Share of the right records whose decision no change within the radius breaks: proved, and as far as attacks have found. The truth lies between the two."
    >
      <LineCharts lines={lines} x="radius" y="share of right records" shares end={end} />
      {table !== undefined && (
        <Behind title={table.title}>
          <DataTable table={table} caption={false} />
        </Behind>
      )}
    </Section>
  );
}
