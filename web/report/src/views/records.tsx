import { useMemo, useState } from "preact/hooks";
import { type Document, isPicture, type Row } from "../model/document";
import { count, percent, show } from "../model/format";
import { rankings } from "../model/records";
import { label } from "../model/rows";
import { Choice } from "../parts/choice";
import { DataTable } from "../parts/data-table";
import { Behind, Section } from "../parts/section";

const FIRST = 24;

function Card({ row, measure }: { row: Row; measure: string | undefined }) {
  const wrong = row.misclassified === true;
  const value = measure === undefined ? undefined : row[measure];
  const figure = measure === "confidence" && typeof value === "number" ? percent(value, 1) : show(value);
  const name = label(row.record);
  return (
    <li class={wrong ? "record record-wrong" : "record"}>
      {isPicture(row.thumbnail) ? (
        <img src={row.thumbnail} alt={`Record ${name}`} />
      ) : (
        <span class="record-blank" aria-hidden="true">
          no picture
        </span>
      )}
      <span class="record-name" title={name}>
        {name}
      </span>
      <span class="record-classes">
        {label(row.prediction) !== "" && label(row.label) !== "" ? (
          wrong ? (
            <>
              <span class="wrong">{label(row.prediction)}</span>{" "}
              <span class="quiet">is {label(row.label)}</span>
            </>
          ) : (
            label(row.prediction)
          )
        ) : (
          show(row.prediction)
        )}
      </span>
      {measure !== undefined && (
        <span class="record-measure quiet">
          {measure} {figure}
        </span>
      )}
    </li>
  );
}

export function Records({ document }: { document: Document }) {
  const table = document.tables.get("records");
  const lists = useMemo(
    () => (table === undefined ? [] : rankings(table, document.facts)),
    [table, document.facts],
  );
  const [chosen, setChosen] = useState("");
  const [shown, setShown] = useState(FIRST);
  const list = lists.find(({ id }) => id === chosen) ?? lists[0];
  if (table === undefined) return null;
  return (
    <Section
      id="records"
      title="Records worth a look"
      lead="A red frame marks a misclassified record: what the network said, and what the record is."
    >
      {list !== undefined && (
        <>
          <div class="tools">
            <Choice
              title="Order of the records"
              options={lists}
              value={list.id}
              onChange={(id) => {
                setChosen(id);
                setShown(FIRST);
              }}
            />
            <span class="quiet" role="status">
              {count(Math.min(shown, list.rows.length))} of {count(list.total)}
            </span>
          </div>
          <ul class="records">
            {list.rows.slice(0, shown).map((row, i) => (
              <Card key={i} row={row} measure={list.measure} />
            ))}
          </ul>
          {list.rows.length > shown && (
            <button type="button" class="more" onClick={() => setShown(shown + FIRST * 2)}>
              Show more
            </button>
          )}
        </>
      )}
      <Behind title={table.title}>
        <DataTable table={table} caption={false} />
      </Behind>
    </Section>
  );
}
