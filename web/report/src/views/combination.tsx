import { number, show } from "../model/format";
import { clusters, combination as parts } from "../model/idc";
import { label, rowsWhere } from "../model/rows";
import { usePlace } from "../parts/context";
import { Crumbs } from "../parts/crumbs";
import { Facts } from "../parts/facts";
import { Section } from "../parts/section";
import { address } from "../route";

function sameM(row: { m?: unknown }, m: string): boolean {
  const own = row.m === undefined || row.m === null ? "" : String(row.m);
  return own === "" || m === "0" || own === m;
}

/** One combination: for every important neuron, which of its clusters takes part, and whether the test set got there. */
export function CombinationPage({
  layer,
  m,
  combination,
}: {
  layer: string;
  m: string;
  combination: string;
}) {
  const { document, index } = usePlace();
  const find = (id: string) =>
    rowsWhere(document.tables.get(id), "layer", layer).find(
      (row) => label(row.combination) === combination && sameM(row, m),
    );
  const covered = find("combinations");
  const missed = find("uncovered");
  const chosen = parts(combination);
  const neurons = rowsWhere(document.tables.get("clusters"), "layer", layer).slice(0, chosen.length);
  const facts =
    covered !== undefined
      ? [
          { name: "state", value: "covered" },
          { name: "records", value: show(covered.records, "count") },
          { name: "first record", value: show(covered.first) },
        ]
      : missed !== undefined
        ? [
            { name: "state", value: "not covered" },
            { name: "nearest record", value: show(missed.record) },
            { name: "gap", value: show(missed.gap) },
            { name: "missed by neuron", value: show(missed.neuron, "count") },
          ]
        : [];
  return (
    <>
      <Crumbs
        trail={[
          { title: "Combinations", section: "importance" },
          { title: layer, layer },
        ]}
        here={combination}
      />
      <h1 tabIndex={-1}>
        <span class="kicker">{layer}</span> Combination {combination}
      </h1>
      {facts.length === 0 ? (
        <p class="notice">The tables of this report do not list this combination.</p>
      ) : (
        <Facts facts={facts} />
      )}
      {neurons.length > 0 && (
        <Section
          id="parts"
          title="Its clusters"
          lead="Important neurons by rank. The filled cluster takes part in the combination."
        >
          <ol class="parts">
            {neurons.map((row, i) => (
              <li
                key={i}
                class={
                  label(missed?.neuron) !== "" && label(missed?.neuron) === label(row.neuron)
                    ? "part-missed"
                    : undefined
                }
              >
                <a
                  class="name"
                  href={address({ page: "neuron", document: index, layer, neuron: label(row.neuron) })}
                >
                  neuron {label(row.neuron)}
                </a>
                <ul class="part-clusters">
                  {clusters(row.centroids).map(({ centroid }, c) => (
                    <li key={c} class={c === chosen[i] ? "cluster cluster-chosen" : "cluster"}>
                      {c === chosen[i] && <span class="unseen">chosen: </span>}
                      {number(centroid)}
                    </li>
                  ))}
                </ul>
                {label(missed?.neuron) !== "" && label(missed?.neuron) === label(row.neuron) && (
                  <span class="quiet">here the nearest record fell elsewhere</span>
                )}
              </li>
            ))}
          </ol>
        </Section>
      )}
    </>
  );
}
