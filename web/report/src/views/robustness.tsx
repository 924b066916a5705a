import { useMemo } from "preact/hooks";
import type { Document } from "../model/document";
import { drops } from "../model/drops";
import { DataTable } from "../parts/data-table";
import { DropChart } from "../parts/drop-chart";
import { Name } from "../parts/name";
import { Behind, Section } from "../parts/section";

/** How accuracy falls while each attack or corruption grows. */
export function Robustness({ document }: { document: Document }) {
  const list = useMemo(() => drops(document), [document]);
  const figures = document.tables.get("curves");
  const severities = document.tables.get("severities");
  return (
    <Section
      id="drops"
      title="How does the accuracy fall?"
      lead="Share of all records that stay right at each severity, with the band of its 95 % intervals. Dashed: the clean accuracy and half of it; the ring is where a curve falls to half."
    >
      <ul class="multiples multiples-wide">
        {list.map((drop) => (
          <li key={drop.name} class="multiple">
            <h3>
              <span>
                <Name of={drop.name} />
              </span>{" "}
              <span class="figure">{drop.figure}</span>
            </h3>
            <DropChart drop={drop} />
          </li>
        ))}
      </ul>
      {figures !== undefined && <DataTable table={figures} />}
      {severities !== undefined && (
        <Behind title={severities.title}>
          <DataTable table={severities} caption={false} />
        </Behind>
      )}
    </Section>
  );
}
