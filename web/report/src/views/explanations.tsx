import { useMemo } from "preact/hooks";
import type { Document } from "../model/document";
import { explanationCurves } from "../model/lines";
import { DataTable } from "../parts/data-table";
import { LineCharts } from "../parts/line-charts";
import { Behind, Section } from "../parts/section";

/** How far explanations can be believed. */
export function Explanations({ document }: { document: Document }) {
  const lines = useMemo(() => explanationCurves(document), [document]);
  const measures = document.tables.get("explanations");
  const points = document.tables.get("points");
  return (
    <Section
      id="explanations"
      title="How far can the explanations be believed?"
      lead="A good explanation names the positions that the decision rests on: the probability of the class falls early where these are deleted first, and rises early where they are inserted first."
    >
      {lines.length > 0 && (
        <LineCharts lines={lines} x="share of positions" y="probability of the class" shares end={1} />
      )}
      {measures !== undefined && <DataTable table={measures} />}
      {points !== undefined && (
        <Behind title={points.title}>
          <DataTable table={points} caption={false} />
        </Behind>
      )}
    </Section>
  );
}
