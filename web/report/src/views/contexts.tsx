import type { Document } from "../model/document";
import { numeric, show } from "../model/format";
import { groups, label } from "../model/rows";
import { DataTable } from "../parts/data-table";
import { Scroll } from "../parts/scroll";
import { Behind, Section } from "../parts/section";

/** Contexts against each other: what each covered, and of that what no other covered. */
export function Contexts({ document }: { document: Document }) {
  const table = document.tables.get("contexts");
  if (table === undefined) return null;
  const byContext = groups(table.rows, (row) => label(row.context));
  const names = [...groups(table.rows, (row) => label(row.criterion)).keys()];
  const largest = new Map(
    names.map((name) => [
      name,
      Math.max(
        0,
        ...table.rows.filter((r) => label(r.criterion) === name).map((r) => numeric(r.covered) ?? 0),
      ),
    ]),
  );
  const width = (value: number | undefined, name: string) => {
    const most = largest.get(name) ?? 0;
    return { width: `${most > 0 && value !== undefined ? (value / most) * 100 : 0}%` };
  };
  return (
    <Section
      id="contexts"
      title="Contexts"
      lead="What each part of the test set covered; the dark part of a bar is covered by no other context."
    >
      <Scroll name="Contexts by criterion">
        <table class="contexts">
          <caption class="unseen">Contexts by criterion</caption>
          <thead>
            <tr>
              <th scope="col">context</th>
              <th scope="col" class="right">
                records
              </th>
              {names.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...byContext].map(([context, rows]) => (
              <tr key={context}>
                <th scope="row">{context || "(none)"}</th>
                <td class="right">{show(rows[0]?.records, "count")}</td>
                {names.map((name) => {
                  const row = rows.find((r) => label(r.criterion) === name);
                  const [covered, only] = [numeric(row?.covered), numeric(row?.only_here)];
                  return (
                    <td key={name}>
                      <span class="duo" aria-hidden="true">
                        <span class="duo-all" style={width(covered, name)} />
                        <span class="duo-only" style={width(only, name)} />
                      </span>
                      {show(row?.covered, "count")}
                      <span class="quiet">
                        {only === undefined ? "" : `, ${show(row?.only_here, "count")} only here`}
                      </span>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <Behind title={table.title}>
        <DataTable table={table} caption={false} />
      </Behind>
    </Section>
  );
}
