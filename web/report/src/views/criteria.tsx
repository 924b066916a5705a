import { type Criterion, criteria, families, hasLines, type Measure, variantOf } from "../model/criteria";
import type { Document } from "../model/document";
import { percent, show } from "../model/format";
import { shade } from "../model/scale";
import { Bar } from "../parts/bar";
import { DataTable } from "../parts/data-table";
import { ScaleLegend } from "../parts/legend";
import { Name } from "../parts/name";
import { Scroll } from "../parts/scroll";
import { Behind, Section } from "../parts/section";

function Figures({ measure }: { measure: Measure }) {
  if (measure.coverage === undefined) {
    return (
      <>
        <span class="criterion-share">{show(measure.value ?? null, "number")}</span>
        <span class="criterion-counts quiet">a measure, not a share of what was to be covered</span>
      </>
    );
  }
  return (
    <>
      <span class="criterion-share">{percent(measure.coverage)}</span>
      <span class="criterion-counts quiet">
        {show(measure.covered, "count")} of {show(measure.coverable, "count")}
        {measure.attainable !== undefined && measure.attainable !== measure.coverage && (
          <span class="criterion-attainable">
            {percent(measure.attainable)} of{" "}
            {measure.attainableCount === "" ? "" : `${show(measure.attainableCount, "count")} `}attainable
          </span>
        )}
      </span>
    </>
  );
}

/** One figure: of all layers together, or of one layer where they do not add up. */
function Line({ name, measure }: { name: string; measure: Measure }) {
  return (
    <li class="criterion">
      <h4>
        <Name of={name} />
      </h4>
      {measure.coverage === undefined ? (
        <span />
      ) : (
        <Bar value={measure.coverage} attainable={measure.attainable} reach={measure.reach} name={name} />
      )}
      <Figures measure={measure} />
      {measure.note !== "" && <p class="criterion-text quiet">{measure.note}</p>}
    </li>
  );
}

const LAYERS = 12;

function Lines({ criterion }: { criterion: Criterion }) {
  const variant = variantOf(criterion.name);
  if (criterion.total !== undefined)
    return (
      <Line
        name={variant || (criterion.byLayer.size > 0 ? "all layers" : "in all")}
        measure={criterion.total}
      />
    );
  const layers = [...criterion.byLayer].sort(([, a], [, b]) => (a.coverage ?? 0) - (b.coverage ?? 0));
  return (
    <>
      {layers.slice(0, LAYERS).map(([layer, measure]) => (
        <Line key={layer} name={`${variant === "" ? "" : `${variant}, `}${layer}`} measure={measure} />
      ))}
      {layers.length > LAYERS && (
        <li class="quiet">
          {layers.length - LAYERS} more layers, each with more than these, are in the table.
        </li>
      )}
    </>
  );
}

function Family({ name, variants }: { name: string; variants: readonly Criterion[] }) {
  const definition = variants.find((one) => one.definition !== undefined)?.definition;
  return (
    <section class="family">
      <h3>
        <Name of={name} />
      </h3>
      {definition !== undefined && (
        <details class="what">
          <summary>What it counts</summary>
          <p>
            {definition.text} <cite>{definition.source}</cite>
          </p>
        </details>
      )}
      <ul class="criteria">
        {variants.map((criterion) => (
          <Lines key={criterion.name} criterion={criterion} />
        ))}
      </ul>
    </section>
  );
}

function ByClass({ list }: { list: readonly Criterion[] }) {
  const chosen = list.filter(({ byClass }) => byClass.size > 0);
  if (chosen.length === 0) return null;
  const classes = [...new Set(chosen.flatMap(({ byClass }) => [...byClass.keys()]))];
  const shaded = chosen.some(({ byClass }) =>
    [...byClass.values()].some(({ coverage }) => coverage !== undefined),
  );
  return (
    <>
      <div class="tools">
        <h3>By class</h3>
        {shaded && <ScaleLegend />}
      </div>
      <Scroll name="Figures by class">
        <table class="heat">
          <caption class="unseen">Figures by class</caption>
          <thead>
            <tr>
              <th scope="col">criterion</th>
              {classes.map((name) => (
                <th key={name} scope="col" class="right">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {chosen.map(({ name, byClass }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {classes.map((of) => {
                  const measure = byClass.get(of);
                  const share = measure?.coverage;
                  return (
                    <td key={of} style={shade(share)}>
                      {share === undefined ? show(measure?.value ?? null, "number") : percent(share, 1)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

export function Criteria({ document }: { document: Document }) {
  const list = criteria(document);
  const table = document.tables.get("criteria");
  const reach = list.some(({ total }) => total?.reach !== undefined);
  return (
    <Section
      id="criteria"
      title="Criteria"
      lead={
        reach
          ? "Solid is covered; hatched is attainable but not covered; blank cannot be reached by any test."
          : undefined
      }
    >
      {families(list.filter(hasLines)).map(({ name, variants }) => (
        <Family key={name} name={name} variants={variants} />
      ))}
      <ByClass list={list} />
      {table !== undefined && (
        <Behind title="Every figure: by layer, class and context">
          <DataTable table={table} caption={false} />
        </Behind>
      )}
    </Section>
  );
}
