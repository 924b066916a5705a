import { useMemo } from "preact/hooks";
import type { Document } from "../model/document";
import { trends } from "../model/lines";
import { DataTable } from "../parts/data-table";
import { LineCharts } from "../parts/line-charts";
import { Behind, Section } from "../parts/section";

/** Figures of results over time. */
export function Trends({ document }: { document: Document }) {
  const lines = useMemo(() => trends(document), [document]);
  const table = document.tables.get("trends");
  const values = document.tables.get("values");
  return (
    <Section
      id="trends"
      title="Trends"
      lead="Each figure by the time at which its result was finished, on a scale of its own."
    >
      <LineCharts lines={lines} x="finished" y="value" />
      {table !== undefined && <DataTable table={table} />}
      {values !== undefined && (
        <Behind title={values.title}>
          <DataTable table={values} caption={false} />
        </Behind>
      )}
    </Section>
  );
}
