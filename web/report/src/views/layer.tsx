import { useMemo, useState } from "preact/hooks";
import type { Column, Document, Row, Table } from "../model/document";
import { numeric, percent, plural, show } from "../model/format";
import { network } from "../model/network";
import { label, rowsWhere } from "../model/rows";
import { Bar } from "../parts/bar";
import { Choice } from "../parts/choice";
import { usePlace } from "../parts/context";
import { Crumbs } from "../parts/crumbs";
import { DataTable } from "../parts/data-table";
import { Facts } from "../parts/facts";
import { ScaleLegend } from "../parts/legend";
import { type GridItem, NeuronGrid } from "../parts/neuron-grid";
import { Section } from "../parts/section";
import { address } from "../route";

const PLAIN = new Set(["layer", "neuron", "first_record", "status"]);

/** Columns by which the neurons can be coloured: shares first, then measures, which are brought to [0, 1] over the layer. */
function colourings(table: Table, rows: readonly Row[]): Column[] {
  const usable = table.columns.filter(
    ({ id }) => !PLAIN.has(id) && rows.some((row) => numeric(row[id]) !== undefined),
  );
  return usable.sort((a, b) => Number(b.kind === "fraction") - Number(a.kind === "fraction"));
}

interface Colouring {
  readonly items: readonly GridItem[];
  readonly low: string;
  readonly high: string;
}

function colour(rows: readonly Row[], column: Column): Colouring {
  const values = rows.map((row) => numeric(row[column.id]));
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value === undefined) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const isShare = column.kind === "fraction";
  const share = (value: number | undefined) =>
    value === undefined || isShare ? value : high > low ? (value - low) / (high - low) : 0;
  const items = rows.map((row, i) => {
    const status = label(row.status);
    return {
      name: label(row.neuron),
      share: share(values[i]),
      text: `neuron ${label(row.neuron)}, ${column.title} ${show(row[column.id], column.kind)}${status === "" ? "" : `, ${status}`}`,
    };
  });
  return isShare
    ? { items, low: "0 %", high: "100 %" }
    : { items, low: show(low, column.kind), high: show(high, column.kind) };
}

function Neurons({ table, rows, layer }: { table: Table; rows: readonly Row[]; layer: string }) {
  const { index } = usePlace();
  const columns = useMemo(() => colourings(table, rows), [table, rows]);
  const [chosen, setChosen] = useState("");
  const column = columns.find(({ id }) => id === chosen) ?? columns[0];
  const colouring = useMemo(() => (column === undefined ? undefined : colour(rows, column)), [rows, column]);
  const part = useMemo(
    () => ({
      ...table,
      title: `Neurons of ${layer}`,
      columns: table.columns.filter(({ id }) => id !== "layer"),
      rows,
    }),
    [table, rows, layer],
  );
  return (
    <Section id="neurons" title={plural(rows.length, "neuron")} lead="One cell for each neuron, in order.">
      {column !== undefined && colouring !== undefined && (
        <>
          <div class="tools">
            <Choice title="Colour" options={columns} value={column.id} onChange={setChosen} />
            <ScaleLegend low={colouring.low} high={colouring.high} />
          </div>
          <NeuronGrid
            name={`Neurons of ${layer} by ${column.title}`}
            items={colouring.items}
            onOpen={(at) => {
              location.hash = address({
                page: "neuron",
                document: index,
                layer,
                neuron: colouring.items[at]?.name ?? "",
              });
            }}
          />
        </>
      )}
      <DataTable table={part} caption={false} />
    </Section>
  );
}

function part(document: Document, id: string, layer: string): Table | undefined {
  const table = document.tables.get(id);
  const rows = rowsWhere(table, "layer", layer);
  return table === undefined || rows.length === 0 ? undefined : { ...table, rows };
}

/** The layer before and after in network order. */
function Neighbours({ names, layer }: { names: readonly string[]; layer: string }) {
  const { index } = usePlace();
  const at = names.indexOf(layer);
  const [before, after] = [names[at - 1], names[at + 1]];
  return (
    <nav class="neighbours" aria-label="Neighbouring layers">
      {at > 0 && before !== undefined && (
        <a href={address({ page: "layer", document: index, layer: before })}>← {before}</a>
      )}
      {at >= 0 && after !== undefined && (
        <a href={address({ page: "layer", document: index, layer: after })}>{after} →</a>
      )}
    </nav>
  );
}

export function LayerPage({ layer }: { layer: string }) {
  const { document } = usePlace();
  const map = useMemo(() => network(document), [document]);
  const entry = map.layers.find((item) => item.layer === layer);
  const neurons = document.tables.get("neurons");
  const rows = rowsWhere(neurons, "layer", layer);
  const facts = (document.tables.get("layers")?.columns ?? [])
    .filter(({ id, kind }) => id !== "layer" && kind !== "fraction" && entry?.row[id] !== undefined)
    .map(({ id, title, kind }) => ({ name: title, value: show(entry?.row[id] ?? null, kind) }));
  const others = ["criteria", "idc", "clusters", "uncovered", "combinations", "mutants"]
    .map((id) => part(document, id, layer))
    .filter((t) => t !== undefined);
  return (
    <>
      <Crumbs trail={[{ title: "Network", section: "network" }]} here={layer} />
      <h1 tabIndex={-1}>
        <span class="kicker">Layer</span> {layer}
      </h1>
      <Neighbours names={map.layers.map((item) => item.layer)} layer={layer} />
      {entry === undefined && others.length === 0 && rows.length === 0 && (
        <p class="notice">This report has no layer of this name.</p>
      )}
      <Facts facts={facts} />
      {entry !== undefined && entry.shares.size > 0 && (
        <Section id="coverage" title="Coverage">
          <ul class="shares">
            {map.criteria.map(({ id, title }) => {
              const share = entry.shares.get(id);
              return (
                share !== undefined && (
                  <li key={id}>
                    <span>{title}</span>
                    <Bar value={share} name={title} />
                    <span class="figure">{percent(share)}</span>
                  </li>
                )
              );
            })}
          </ul>
        </Section>
      )}
      {neurons !== undefined && rows.length > 0 && (
        <Neurons key={layer} table={neurons} rows={rows} layer={layer} />
      )}
      {others.length > 0 && (
        <Section id="more" title="In the tables">
          {others.map((table) => (
            <DataTable key={`${layer} ${table.id}`} table={table} page={10} />
          ))}
        </Section>
      )}
    </>
  );
}
