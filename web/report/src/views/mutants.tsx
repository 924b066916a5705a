import { useMemo } from "preact/hooks";
import type { Document } from "../model/document";
import { percent, plural } from "../model/format";
import { mutantMap, tally } from "../model/mutants";
import { groups, label } from "../model/rows";
import { shade } from "../model/scale";
import { LayerLink } from "../parts/context";
import { DataTable } from "../parts/data-table";
import { ScaleLegend } from "../parts/legend";
import { Scroll } from "../parts/scroll";
import { Section } from "../parts/section";

export function Mutants({ document }: { document: Document }) {
  const table = document.tables.get("mutants");
  const map = useMemo(() => (table === undefined ? undefined : mutantMap(table)), [table]);
  if (table === undefined || map === undefined) return null;
  const all = tally(table.rows);
  const states = [...groups(table.rows, (row) => label(row.status) || "unknown")];
  return (
    <Section
      id="mutants"
      title="Mutants"
      lead={`${plural(table.rows.length, "mutant")}: ${states.map(([name, rows]) => `${rows.length} ${name}`).join(", ")}${all.share === undefined ? "" : `; score ${percent(all.share)}`}.`}
    >
      <div class="tools">
        <h3>Score by operator and layer</h3>
        <ScaleLegend />
      </div>
      <Scroll name="Mutation score by operator and layer">
        <table class="heat">
          <caption class="unseen">Mutation score by operator and layer</caption>
          <thead>
            <tr>
              <th scope="col">layer</th>
              {map.operators.map((operator) => (
                <th key={operator} scope="col" class="right">
                  {operator}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {map.layers.map((layer) => (
              <tr key={layer}>
                <th scope="row">{layer === "" ? "(whole network)" : <LayerLink layer={layer} />}</th>
                {map.operators.map((operator) => {
                  const cell = map.at(operator, layer);
                  return (
                    <td
                      key={operator}
                      style={shade(cell?.share)}
                      title={cell === undefined ? undefined : `${cell.killed} of ${cell.judged} killed`}
                    >
                      {cell?.share === undefined ? <span class="absent">–</span> : percent(cell.share, 0)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <DataTable table={table} />
    </Section>
  );
}
