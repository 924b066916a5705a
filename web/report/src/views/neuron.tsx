import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { Row } from "../model/document";
import { count, number, numeric, percent, show } from "../model/format";
import { type Histogram, histogram, outline } from "../model/histogram";
import { type Cluster, clusters } from "../model/idc";
import { label, rowsWhere } from "../model/rows";
import { Bar } from "../parts/bar";
import { Chart } from "../parts/chart";
import { usePlace } from "../parts/context";
import { Crumbs } from "../parts/crumbs";
import { Facts } from "../parts/facts";
import { Scroll } from "../parts/scroll";
import { Section } from "../parts/section";
import { address } from "../route";

function HistogramChart({
  data,
  centroids,
  name,
}: {
  data: Histogram;
  centroids: readonly Cluster[];
  name: string;
}) {
  const draw = useCallback(
    (width: number): Plot.PlotOptions => ({
      height: Math.max(220, Math.min(340, Math.round(width * 0.4))),
      marginLeft: 44,
      marginTop: 24,
      marginBottom: 38,
      x: {
        label: "activation",
        labelAnchor: "right",
        labelArrow: "none",
        ticks: Math.max(3, Math.round(width / 110)),
        tickSize: 3,
      },
      y: {
        label: null,
        ticks: 4,
        tickFormat: (v: number) => `${Math.round(v * 1000) / 10} %`,
        tickSize: 0,
        zero: true,
      },
      marks: [
        Plot.gridY({ ticks: 4, stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.rectY(data.bins, { x1: "from", x2: "to", y: "train", fill: "var(--train)", inset: 0.5 }),
        Plot.line(outline(data.bins), {
          x: "x",
          y: "y",
          stroke: "var(--test)",
          strokeWidth: 2,
          strokeLinejoin: "miter",
        }),
        Plot.ruleX(data.boundaries, { stroke: "var(--ink)", strokeDasharray: "3,3", strokeWidth: 1 }),
        Plot.dot(centroids, {
          x: "centroid",
          frameAnchor: "top",
          dy: -8,
          r: 4,
          symbol: "triangle",
          rotate: 180,
          fill: "var(--ink)",
        }),
        Plot.ruleY([0], { stroke: "var(--quiet)" }),
      ],
    }),
    [data, centroids],
  );
  return <Chart name={name} draw={draw} />;
}

function HistogramSection({
  row,
  centroids,
  neuron,
}: {
  row: Row;
  centroids: readonly Cluster[];
  neuron: string;
}) {
  const data = histogram(row);
  if (data === undefined) return null;
  const name = `Activations of neuron ${neuron}: shares of ${count(data.train)} training and ${count(data.test)} test values over ${data.bins.length} bins from ${show(row.low)} to ${show(row.high)}`;
  return (
    <Section id="activations" title="Activations">
      <p class="keys">
        <span class="key key-train">training, {count(data.train)} values</span>
        <span class="key key-test">test, {count(data.test)} values</span>
        {data.boundaries.length > 0 && <span class="key key-boundary">cluster boundary</span>}
        {centroids.length > 0 && <span class="key key-centroid">centroid</span>}
      </p>
      <HistogramChart data={data} centroids={centroids} name={name} />
      <details class="behind">
        <summary>Shares by bin</summary>
        <Scroll name="Shares by bin">
          <table>
            <caption class="unseen">Shares by bin</caption>
            <thead>
              <tr>
                <th scope="col">from</th>
                <th scope="col">to</th>
                <th scope="col">training</th>
                <th scope="col">test</th>
              </tr>
            </thead>
            <tbody>
              {data.bins.map((bin) => (
                <tr key={bin.from}>
                  <td>{number(bin.from)}</td>
                  <td>{number(bin.to)}</td>
                  <td>{percent(bin.train)}</td>
                  <td>{percent(bin.test)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </Section>
  );
}

function ClusterList({ list }: { list: readonly Cluster[] }) {
  if (list.length === 0) return null;
  const total = list.reduce((sum, { records }) => sum + (records ?? 0), 0);
  return (
    <Section id="clusters" title="Clusters of its activations over the training set">
      <ul class="shares">
        {list.map(({ centroid, records }, i) => (
          <li key={i}>
            <span>
              cluster {i}, about {number(centroid)}
            </span>
            <Bar
              value={total > 0 && records !== undefined ? records / total : undefined}
              name={`Cluster ${i}`}
            />
            <span class="figure">{records === undefined ? "" : `${count(records)} records`}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Steps({ layer, rows, at }: { layer: string; rows: readonly Row[]; at: number }) {
  const { index } = usePlace();
  const to = (row: Row | undefined, text: (name: string) => string) =>
    row !== undefined && (
      <a href={address({ page: "neuron", document: index, layer, neuron: label(row.neuron) })}>
        {text(label(row.neuron))}
      </a>
    );
  return (
    <nav class="neighbours" aria-label="Neighbouring neurons">
      {at > 0 && to(rows[at - 1], (name) => `← neuron ${name}`)}
      {at >= 0 && to(rows[at + 1], (name) => `neuron ${name} →`)}
    </nav>
  );
}

export function NeuronPage({ layer, neuron }: { layer: string; neuron: string }) {
  const { document } = usePlace();
  const of = (id: string) => rowsWhere(document.tables.get(id), "layer", layer);
  const find = (id: string) => of(id).find((row) => label(row.neuron) === neuron);
  const rows = of("neurons");
  const at = rows.findIndex((row) => label(row.neuron) === neuron);
  const row = rows[at];
  const bins = find("histograms");
  const cluster = find("clusters");
  const centroids = clusters(cluster?.centroids);
  const columns = (document.tables.get("neurons")?.columns ?? []).filter(
    ({ id }) => id !== "layer" && id !== "neuron",
  );
  const shares = columns.filter(({ id, kind }) => kind === "fraction" && numeric(row?.[id]) !== undefined);
  const facts = columns
    .filter(({ kind }) => kind !== "fraction")
    .map(({ id, title, kind }) => ({ name: title, value: show(row?.[id], kind) }));
  const fromClusters =
    cluster === undefined
      ? []
      : ["rank", "relevance", "silhouette"].filter(
          (id) => cluster[id] !== undefined && row?.[id] === undefined,
        );
  return (
    <>
      <Crumbs
        trail={[
          { title: "Network", section: "network" },
          { title: layer, layer },
        ]}
        here={neuron}
      />
      <h1 tabIndex={-1}>
        <span class="kicker">{layer}</span> Neuron {neuron}
      </h1>
      <Steps layer={layer} rows={rows} at={at} />
      {row === undefined && bins === undefined && cluster === undefined && (
        <p class="notice">This report has no such neuron.</p>
      )}
      <Facts
        facts={[
          ...(row === undefined ? [] : facts),
          ...fromClusters.map((id) => ({ name: id, value: show(cluster?.[id]) })),
        ]}
      />
      {shares.length > 0 && (
        <Section id="coverage" title="Coverage">
          <ul class="shares">
            {shares.map(({ id, title }) => (
              <li key={id}>
                <span>{title}</span>
                <Bar value={numeric(row?.[id])} name={title} />
                <span class="figure">{show(row?.[id], "fraction")}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {bins !== undefined && <HistogramSection row={bins} centroids={centroids} neuron={neuron} />}
      <ClusterList list={centroids} />
    </>
  );
}
