import type { Document, Row } from "../model/document";
import { numeric, percent, show } from "../model/format";
import { groups, label } from "../model/rows";
import { Bar } from "../parts/bar";
import { DataTable } from "../parts/data-table";
import { Behind, Section } from "../parts/section";

const SHOWN = 12;

function Layer({ name, rows, about }: { name: string; rows: readonly Row[]; about: Row | undefined }) {
  const conserved = numeric(about?.conserved);
  return (
    <>
      <h3>{name}</h3>
      {about !== undefined && (
        <p class="quiet">
          {show(about.m, "count")} of {show(about.neurons, "count")} neurons hold the share of relevance asked
          for. Relevance put in: {show(about.relevance_in, "number")}; arriving here:{" "}
          {show(about.relevance_here, "number")}
          {conserved === undefined ? "" : ` (${show(conserved, "number")} times as much)`}.
        </p>
      )}
      <ol class="criteria">
        {rows.slice(0, SHOWN).map((row) => {
          const share = numeric(row.share);
          const neuron = `neuron ${label(row.neuron)}`;
          return (
            <li class="criterion" key={label(row.neuron)}>
              <h4>{neuron}</h4>
              <Bar value={share} name={neuron} />
              <span class="criterion-share">{share === undefined ? "–" : percent(share)}</span>
              <span class="criterion-counts quiet">relevance {show(row.relevance, "number")}</span>
            </li>
          );
        })}
      </ol>
      {about !== undefined && (
        <p class="quiet">
          {Math.min(SHOWN, rows.length)} of {show(about.neurons, "count")} neurons are shown.
        </p>
      )}
    </>
  );
}

/** Which neurons decide: each with its share of the absolute relevance of its layer. */
export function Relevance({ document }: { document: Document }) {
  const neurons = document.tables.get("neurons");
  const layers = document.tables.get("layers");
  if (neurons === undefined) return null;
  return (
    <Section
      id="relevance"
      title="Which neurons decide"
      lead="Neurons by relevance, summed over the records. The bar is the share of the absolute relevance of all neurons of the layer: it is longer than the place suggests where a neuron speaks for the class in some records and against it in others."
    >
      {[...groups(neurons.rows, (row) => label(row.layer))].map(([layer, rows]) => (
        <Layer
          key={layer}
          name={layer}
          rows={rows}
          about={layers?.rows.find((row) => label(row.layer) === layer)}
        />
      ))}
      <Behind title="All figures">
        <DataTable table={neurons} />
        {layers !== undefined && <DataTable table={layers} />}
      </Behind>
    </Section>
  );
}

/** True for the ranking of an importance analysis: a table of neurons of that kind. */
export function isRanking(document: Document): boolean {
  const columns = document.tables.get("neurons")?.columns ?? [];
  return ["rank", "relevance", "share"].every((id) => columns.some((column) => column.id === id));
}
