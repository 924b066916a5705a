import { useMemo, useState } from "preact/hooks";
import type { Cell, Column, Row, Table } from "../model/document";
import { isPicture } from "../model/document";
import { count, NOT_APPLICABLE, numeric, plural, show } from "../model/format";
import { filtered, label, type Order, sorted } from "../model/rows";
import { address } from "../route";
import { knowsNeuron, LayerLink, usePlace } from "./context";
import { Scroll } from "./scroll";

const PAGE = 25;
const FILTER_FROM = 8;
const WIDE_FROM = 24;

function isNumeric({ id, kind }: Column, rows: readonly Row[]): boolean {
  if (kind !== "text") return true;
  const known = rows.slice(0, 50).filter((row) => label(row[id]) !== "");
  return known.length > 0 && known.every((row) => numeric(row[id]) !== undefined);
}

/** Columns in which some row has something. */
function filled({ columns, rows }: Table): readonly Column[] {
  return rows.length === 0 ? columns : columns.filter(({ id }) => rows.some((row) => label(row[id]) !== ""));
}

/** Whether cells hold sentences, which need space where the table is wider than its place. */
function isWide({ id, kind }: Column, rows: readonly Row[]): boolean {
  return kind === "text" && rows.some((row) => !isPicture(row[id]) && label(row[id]).length > WIDE_FROM);
}

function NeuronLink({ row }: { row: Row }) {
  const { document, index } = usePlace();
  const [layer, neuron] = [label(row.layer), label(row.neuron)];
  if (!knowsNeuron(document, layer, neuron)) return <>{show(row.neuron, "count")}</>;
  return (
    <a class="name" href={address({ page: "neuron", document: index, layer, neuron })}>
      {neuron}
    </a>
  );
}

function CombinationLink({ row }: { row: Row }) {
  const { index } = usePlace();
  const [layer, m, combination] = [label(row.layer), label(row.m) || "0", label(row.combination)];
  return (
    <a class="name" href={address({ page: "combination", document: index, layer, m, combination })}>
      {combination}
    </a>
  );
}

function Value({ column, row, value }: { column: Column; row: Row; value: Cell | undefined }) {
  if (isPicture(value)) return <img class="thumb" src={value} alt={label(row.record) || "input"} />;
  if (column.id === "layer") return <LayerLink layer={value} />;
  if (column.id === "neuron" && row.layer !== undefined && label(value) !== "")
    return <NeuronLink row={row} />;
  if (column.id === "combination" && row.layer !== undefined && label(value) !== "")
    return <CombinationLink row={row} />;
  const text = show(value, column.kind, column.title);
  if (text === NOT_APPLICABLE) return <span class="absent">{text}</span>;
  if (column.kind === "fraction" && typeof value === "number") {
    const share = `${Math.min(1, Math.max(0, value)) * 100}%`;
    return (
      <span class="share" style={{ "--share": share }}>
        {text}
      </span>
    );
  }
  return <>{text}</>;
}

function Heading({
  column,
  order,
  right,
  onSort,
}: {
  column: Column;
  order: Order | undefined;
  right: boolean;
  onSort: () => void;
}) {
  const active = order?.column === column.id;
  const direction = active ? (order.descending ? "descending" : "ascending") : "none";
  return (
    <th scope="col" aria-sort={direction} class={right ? "right" : undefined}>
      <button type="button" onClick={onSort}>
        {column.title}
        {active && (
          <span class="sort" aria-hidden="true">
            {order.descending ? "↓" : "↑"}
          </span>
        )}
      </button>
    </th>
  );
}

function Pager({
  page,
  pages,
  onPage,
  title,
}: {
  page: number;
  pages: number;
  onPage: (page: number) => void;
  title: string;
}) {
  if (pages < 2) return null;
  return (
    <nav class="pager" aria-label={`Pages of ${title}`}>
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
        Previous
      </button>
      <span>
        Page {page + 1} of {pages}
      </span>
      <button type="button" disabled={page >= pages - 1} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </nav>
  );
}

/** Any table: sorted by a click on a heading, filtered by words, shown page by page. */
export function DataTable({
  table,
  caption = true,
  page: size = PAGE,
}: {
  table: Table;
  caption?: boolean;
  page?: number;
}) {
  const [query, setQuery] = useState("");
  const [order, setOrder] = useState<Order>();
  const [at, setPage] = useState(0);
  const columns = useMemo(() => filled(table), [table]);
  const kept = useMemo(() => filtered(table.rows, columns, query), [table, columns, query]);
  const rows = useMemo(() => sorted(kept, order), [kept, order]);
  const right = useMemo(
    () => new Set(columns.filter((c) => isNumeric(c, table.rows)).map((c) => c.id)),
    [table, columns],
  );
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = Math.min(at, pages - 1);
  const shown = rows.slice(page * size, (page + 1) * size);
  const sort = (column: string) => {
    setOrder((now) =>
      now?.column !== column
        ? { column, descending: right.has(column) }
        : { column, descending: !now.descending },
    );
    setPage(0);
  };
  return (
    <div class="table">
      {caption && <h3 class="table-title">{table.title}</h3>}
      {table.rows.length >= FILTER_FROM && (
        <div class="table-tools">
          <input
            type="search"
            placeholder="Filter"
            aria-label={`Filter ${table.title}`}
            value={query}
            onInput={(event) => {
              setQuery(event.currentTarget.value);
              setPage(0);
            }}
          />
          <span class="quiet" role="status">
            {kept.length === table.rows.length
              ? plural(kept.length, "row")
              : `${kept.length} of ${plural(table.rows.length, "row")}`}
          </span>
        </div>
      )}
      <Scroll name={table.title}>
        <table>
          <caption class="unseen">{table.title}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <Heading
                  key={column.id}
                  column={column}
                  order={order}
                  right={right.has(column.id)}
                  onSort={() => sort(column.id)}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={i}>
                {columns.map((column) => (
                  <td
                    key={column.id}
                    class={right.has(column.id) ? "right" : isWide(column, shown) ? "wide" : undefined}
                  >
                    <Value column={column} row={row} value={row[column.id]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 && (
          <p class="quiet nothing">{query === "" ? "No rows." : "No row matches the filter."}</p>
        )}
      </Scroll>
      <Pager page={page} pages={pages} onPage={setPage} title={table.title} />
      {rows.length > shown.length && (
        <p class="quiet on-paper">{`${count(shown.length)} of ${plural(rows.length, "row")}`}</p>
      )}
    </div>
  );
}
