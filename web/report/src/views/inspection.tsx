import { useMemo, useState } from "preact/hooks";
import { groupOf, matrix, numbers, strongestGroup, symbols } from "../model/affinity";
import { courses } from "../model/curves";
import { type Document, isPicture, type Row } from "../model/document";
import { number } from "../model/format";
import { label } from "../model/rows";
import { shade } from "../model/scale";
import { Choice } from "../parts/choice";
import { DataTable } from "../parts/data-table";
import { ScaleLegend } from "../parts/legend";
import { Multiples } from "../parts/multiples";
import { Scroll } from "../parts/scroll";
import { Behind, Section } from "../parts/section";

const UNITS = 24;
const LINES = 40;

const ORDERS = [
  { id: "strongest", title: "strongest first" },
  { id: "name", title: "by name" },
];

const distinct = (rows: readonly Row[], of: (row: Row) => string) =>
  [...new Set(rows.map(of))].map((id) => ({ id, title: id }));

/** Units by hypotheses as a heat map, and units along single records. */
export function Inspection({ document }: { document: Document }) {
  const table = document.tables.get("scores");
  const groups = useMemo(() => distinct(table?.rows ?? [], groupOf), [table]);
  const measures = useMemo(() => distinct(table?.rows ?? [], (row) => label(row.measure)), [table]);
  const [chosenGroup, setGroup] = useState("");
  const [chosenMeasure, setMeasure] = useState("");
  const [order, setOrder] = useState("strongest");
  const [query, setQuery] = useState("");
  const measure = chosenMeasure || (measures[0]?.id ?? "");
  const strongest = useMemo(
    () => (table === undefined ? "" : strongestGroup(table, measures[0]?.id ?? "")),
    [table, measures],
  );
  const group = chosenGroup || strongest || (groups[0]?.id ?? "");
  const all = useMemo(
    () => (table === undefined ? undefined : matrix(table, group, measure)),
    [table, group, measure],
  );
  if (table === undefined || all === undefined) return null;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = all.lines
    .filter(({ hypothesis }) => words.every((word) => hypothesis.toLowerCase().includes(word)))
    .sort((a, b) =>
      order === "name"
        ? a.hypothesis.localeCompare(b.hypothesis, "en", { numeric: true })
        : b.strongest - a.strongest,
    );
  const lines = kept.slice(0, LINES);
  const units = all.units.slice(0, UNITS);
  return (
    <Section
      id="inspection"
      title="Units and hypotheses"
      lead="How much each unit behaves like each hypothesis. Colour is the size of the score, its sign is in the cell; the strongest units come first."
    >
      <div class="tools">
        <Choice title="Group" options={groups} value={group} onChange={setGroup} />
        <Choice title="Measure" options={measures} value={measure} onChange={setMeasure} />
        <Choice title="Order of the hypotheses" options={ORDERS} value={order} onChange={setOrder} />
        <label class="choice">
          <span>Filter hypotheses</span>
          <input type="search" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
        </label>
        <span class="quiet" role="status">
          {lines.length} of {all.lines.length} hypotheses, {units.length} of {all.units.length} units
        </span>
        <ScaleLegend low="0" high={number(all.scale)} />
      </div>
      <Scroll name={`Scores of ${group} by ${measure}`}>
        <table class="heat">
          <thead>
            <tr>
              <th scope="col">hypothesis</th>
              {units.map((unit) => (
                <th key={unit} scope="col" class="right">
                  {unit}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map(({ hypothesis, scores }) => (
              <tr key={hypothesis}>
                <th scope="row">{hypothesis}</th>
                {units.map((unit) => {
                  const score = scores.get(unit)?.score;
                  return (
                    <td
                      key={unit}
                      style={shade(score === undefined ? undefined : Math.abs(score) / all.scale)}
                    >
                      {score === undefined ? "–" : score.toFixed(2).replace(/^-(0\.00)$/, "$1")}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <Convergence document={document} />
      <CloseUps document={document} />
      <Behind title={table.title}>
        <DataTable table={table} caption={false} />
      </Behind>
    </Section>
  );
}

function Convergence({ document }: { document: Document }) {
  const table = document.tables.get("convergence");
  const list = useMemo(
    () =>
      table === undefined
        ? []
        : courses(table).map((curve) => ({ ...curve, figure: number(curve.points.at(-1)?.y ?? 0) })),
    [table],
  );
  if (list.length === 0) return null;
  return (
    <>
      <h3>How scores came about</h3>
      <p class="quiet">
        The size of the score after so many records. A curve that is flat at its end has converged.
      </p>
      <Multiples curves={list} x="records" y="score" format={number} />
    </>
  );
}

function CloseUps({ document }: { document: Document }) {
  const rows = document.tables.get("close_ups")?.rows ?? [];
  const shown = rows.filter((row) => isPicture(row.thumbnail) || symbols(row.symbols).length > 0);
  if (shown.length === 0) return null;
  return (
    <>
      <h3>Where units are highest</h3>
      <p class="quiet">
        A symbol is the darker the greater the unit is there, from its least to its greatest value in the
        record; what the hypothesis marks is underlined. Pictures are red where the unit is great.
      </p>
      <ul class="close-ups">
        {shown.map((row, i) => (
          <li key={i}>
            <p class="quiet">
              {label(row.group)} {label(row.unit)}, {label(row.hypothesis)}, record {label(row.record)}
            </p>
            {isPicture(row.thumbnail) ? (
              <img
                src={row.thumbnail}
                alt={`Record ${label(row.record)}, red where unit ${label(row.unit)} is high`}
              />
            ) : (
              <Text row={row} />
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function Text({ row }: { row: Row }) {
  const text = symbols(row.symbols);
  const values = numbers(row.values);
  const marks = numbers(row.behaviour);
  const known = values.filter((value) => value !== undefined);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return (
    <p class="coloured-text">
      {text.map((symbol, k) => {
        const value = text.length === values.length ? values[k] : undefined;
        const share = value === undefined || high <= low ? undefined : (value - low) / (high - low);
        const marked = marks.length === text.length && (marks[k] ?? 0) > 0;
        return (
          <span
            key={k}
            class={marked ? "marked" : undefined}
            style={shade(share)}
            title={value === undefined ? undefined : number(value)}
          >
            {symbol}
          </span>
        );
      })}
    </p>
  );
}
