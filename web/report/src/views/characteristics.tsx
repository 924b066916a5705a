import { useMemo } from "preact/hooks";
import { figuresByGroup } from "../model/characteristics";
import type { Document } from "../model/document";
import { percent } from "../model/format";
import { DataTable } from "../parts/data-table";
import { DotPlot } from "../parts/dot-plot";
import { Behind, Section } from "../parts/section";

const figure = (value: number) => percent(value, 1);

/** Figures by characteristic of the records, the worst group first. */
export function Characteristics({ document }: { document: Document }) {
  const table = document.tables.get("by_characteristic");
  const plots = useMemo(() => (table === undefined ? [] : figuresByGroup(table)), [table]);
  if (table === undefined) return null;
  const shares = table.columns.some(({ id, kind }) => id === "value" && kind === "fraction");
  const more = ["by_pair", "by_group"].flatMap((id) => document.tables.get(id) ?? []);
  return (
    <Section
      id="characteristics"
      title="By characteristic"
      lead="Each group of records with its 95 % interval where it has one, the worst first. Coloured dots differ from all other records with p below 0.05, adjusted by Holm; open dots are not compared."
    >
      {plots.map(({ figure: name, items }) => (
        <div key={name}>
          {name !== "" && <h3>{name}</h3>}
          <DotPlot
            title={name === "" ? table.title : `${name} by characteristic`}
            axis={name === "" ? table.title : name}
            items={items}
            reference={undefined}
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
