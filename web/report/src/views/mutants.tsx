import { useMemo, useState } from "preact/hooks";
import { type Document, isPicture, type Row, type Table } from "../model/document";
import { percent, plural } from "../model/format";
import { mutantMap, tally } from "../model/mutants";
import { groups, label } from "../model/rows";
import { shade } from "../model/scale";
import { Choice } from "../parts/choice";
import { LayerLink } from "../parts/context";
import { DataTable } from "../parts/data-table";
import { ScaleLegend } from "../parts/legend";
import { Scroll } from "../parts/scroll";
import { Behind, Section } from "../parts/section";

const SHOWN = 24;
/** What tells mutants apart at a glance; the rest is one click away. */
const MAIN = ["mutant", "status", "killers", "ran", "score", "error_rate", "label"];

/** The picture of a record that the document shows, where it does. */
function pictureOf(document: Document, record: string): string | undefined {
  const row = document.tables.get("records")?.rows.find((one) => label(one.record) === record);
  return isPicture(row?.thumbnail) ? row.thumbnail : undefined;
}

function Survivor({ document, row }: { document: Document; row: Row }) {
  const record = label(row.nearest);
  const picture = pictureOf(document, record);
  return (
    <li class="survivor">
      <code>{label(row.mutant)}</code>
      <span>{label(row.summary)}</span>
      <span class="quiet">
        {record === "" ? "no record comes near" : `nearest record: ${record}`}
        {label(row.label) === "" ? "" : `; ${label(row.label)}`}
      </span>
      {picture !== undefined && <img class="thumb" src={picture} alt={record} />}
    </li>
  );
}

/** Survivors first: they are what the test set misses. All mutants by status below them. */
function Survivors({ document, table }: { document: Document; table: Table }) {
  const states = useMemo(() => [...groups(table.rows, (row) => label(row.status) || "unknown")], [table]);
  const survivors = states.find(([name]) => name === "survived")?.[1] ?? [];
  const [chosen, setChosen] = useState("");
  const [all, setAll] = useState(false);
  const rows = states.find(([name]) => name === chosen)?.[1] ?? table.rows;
  const main = table.columns.filter(({ id }) => MAIN.includes(id));
  const options = [
    { id: "", title: `all (${table.rows.length})` },
    ...states.map(([name, of]) => ({ id: name, title: `${name} (${of.length})` })),
  ];
  return (
    <>
      <h3>Survivors</h3>
      {survivors.length === 0 ? (
        <p>No mutant survived.</p>
      ) : (
        <ul class="survivors">
          {survivors.slice(0, all ? survivors.length : SHOWN).map((row, i) => (
            <Survivor key={i} document={document} row={row} />
          ))}
        </ul>
      )}
      {survivors.length > SHOWN && !all && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          All {survivors.length} survivors
        </button>
      )}
      <div class="tools">
        <h3>All mutants</h3>
        <Choice title="Status" options={options} value={chosen} onChange={setChosen} />
      </div>
      <DataTable
        table={{ ...table, rows, columns: main.length > 0 ? main : table.columns }}
        caption={false}
      />
      <Behind title="Every column">
        <DataTable table={{ ...table, rows }} caption={false} />
      </Behind>
    </>
  );
}

export function Mutants({ document }: { document: Document }) {
  const table = document.tables.get("mutants");
  const map = useMemo(() => (table === undefined ? undefined : mutantMap(table)), [table]);
  if (table === undefined || map === undefined) return null;
  const all = tally(table.rows);
  const meaning = all.byClass
    ? ", where a killed mutant counts by the share of classes whose records kill it"
    : "";
  const states = [...groups(table.rows, (row) => label(row.status) || "unknown")];
  return (
    <Section
      id="mutants"
      title="Mutants"
      lead={`${plural(table.rows.length, "mutant")}: ${states.map(([name, rows]) => `${rows.length} ${name}`).join(", ")}${all.share === undefined ? "" : `; score ${percent(all.share)}${meaning}`}.`}
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
      <Survivors document={document} table={table} />
    </Section>
  );
}
