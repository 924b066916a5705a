import { useState } from "preact/hooks";
import type { Document } from "../model/document";
import { percent, plural, show } from "../model/format";
import { firstShown, type LayerShare, network, stripOf } from "../model/network";
import { label } from "../model/rows";
import { shade } from "../model/scale";
import { Choice } from "../parts/choice";
import { knowsLayer, LayerLink, usePlace } from "../parts/context";
import { DataTable } from "../parts/data-table";
import { ScaleLegend } from "../parts/legend";
import { Scroll } from "../parts/scroll";
import { Behind, Section } from "../parts/section";
import { address } from "../route";

const LABELLED = 24;

function Block({ item, criterion, labelled }: { item: LayerShare; criterion: string; labelled: boolean }) {
  const { document, index } = usePlace();
  const share = item.shares.get(criterion);
  const text = `${item.layer}: ${share === undefined ? "not applicable" : percent(share)}${item.neurons === undefined ? "" : `, ${plural(item.neurons, "neuron")}`}`;
  const inner = labelled && (
    <span class="block-text">
      <span class="block-name">{item.layer}</span>
      <span class="block-share">{share === undefined ? "–" : percent(share, 1)}</span>
    </span>
  );
  const style = { ...shade(share), flexGrow: `${1 + Math.log2(1 + (item.neurons ?? 1)) / 4}` };
  const kind = share === undefined ? "block block-none" : "block";
  return (
    <li style={{ flexGrow: style.flexGrow }}>
      {knowsLayer(document, item.layer) ? (
        <a
          class={kind}
          style={style}
          title={text}
          aria-label={labelled ? undefined : text}
          href={address({ page: "layer", document: index, layer: item.layer })}
        >
          {inner}
        </a>
      ) : (
        <span
          class={kind}
          style={style}
          title={text}
          {...(labelled ? {} : { role: "img" as const, "aria-label": text })}
        >
          {inner}
        </span>
      )}
    </li>
  );
}

function Matrix({ document }: { document: Document }) {
  const { layers, criteria } = network(document);
  const rows = document.tables.get("layers");
  const extra = (rows?.columns ?? []).filter(({ id }) =>
    ["op", "shape", "neurons", "dead", "constant", "duplicate"].includes(id),
  );
  return (
    <Scroll name="Coverage of every layer by every criterion">
      <table class="heat">
        <caption class="unseen">Coverage of every layer by every criterion</caption>
        <thead>
          <tr>
            <th scope="col">layer</th>
            {extra.map(({ id, title, kind }) => (
              <th key={id} scope="col" class={kind === "text" ? undefined : "right"}>
                {title}
              </th>
            ))}
            {criteria.map(({ id, title }) => (
              <th key={id} scope="col" class="right">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {layers.map(({ layer, row, shares }) => (
            <tr key={layer}>
              <th scope="row">
                <LayerLink layer={layer} />
              </th>
              {extra.map(({ id, kind }) => (
                <td key={id} class={kind === "text" ? "plain" : "plain right"}>
                  {label(row[id]) === "0" ? <span class="absent">0</span> : show(row[id], kind)}
                </td>
              ))}
              {criteria.map(({ id }) => {
                const share = shares.get(id);
                return (
                  <td key={id} style={shade(share)}>
                    {share === undefined ? <span class="absent">–</span> : percent(share, 1)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

export function NetworkMap({ document }: { document: Document }) {
  const map = network(document);
  const [chosen, setChosen] = useState("");
  const criterion = map.criteria.find(({ id }) => id === chosen) ?? firstShown(map);
  const table = document.tables.get("layers");
  const labelled = map.layers.length <= LABELLED;
  return (
    <Section
      id="network"
      title="Network"
      lead="Coverage of every layer, from input to output. A layer opens by a click."
    >
      {criterion !== undefined && (
        <>
          <div class="tools">
            <Choice title="Criterion" options={map.criteria} value={criterion.id} onChange={setChosen} />
            <ScaleLegend />
          </div>
          <ol class={labelled ? "strip" : "strip strip-dense"} aria-label={`${criterion.title} by layer`}>
            {stripOf(map.layers, criterion.id).map((item) => (
              <Block key={item.layer} item={item} criterion={criterion.id} labelled={labelled} />
            ))}
          </ol>
        </>
      )}
      {map.layers.length <= LABELLED ? (
        <Matrix document={document} />
      ) : (
        <Behind title={`All ${map.layers.length} layers by every criterion`}>
          <Matrix document={document} />
        </Behind>
      )}
      {table !== undefined && (
        <Behind title="Table of layers, to sort and filter">
          <DataTable table={table} caption={false} />
        </Behind>
      )}
    </Section>
  );
}
