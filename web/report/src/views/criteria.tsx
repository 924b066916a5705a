import { type Criterion, criteria, type Measure } from "../model/criteria";
import type { Document } from "../model/document";
import { percent, show } from "../model/format";
import { shade } from "../model/scale";
import { Bar } from "../parts/bar";
import { DataTable } from "../parts/data-table";
import { ScaleLegend } from "../parts/legend";
import { Scroll } from "../parts/scroll";
import { Behind, Section } from "../parts/section";

function Figures({ measure }: { measure: Measure }) {
  return (
    <>
      <span class="criterion-share">{measure.coverage === undefined ? "–" : percent(measure.coverage)}</span>
      <span class="criterion-counts quiet">
        {show(measure.covered, "count")} of {show(measure.coverable, "count")}
        {measure.attainable !== undefined && (
          <span class="criterion-attainable">
            {percent(measure.attainable)} of{" "}
            {measure.attainableCount === "" ? "" : `${show(measure.attainableCount, "count")} `}attainable
          </span>
        )}
      </span>
    </>
  );
}

function CriterionLine({ criterion }: { criterion: Criterion }) {
  const { name, definition, total } = criterion;
  return (
    <li class="criterion">
      <h3>{name}</h3>
      <Bar value={total?.coverage} attainable={total?.attainable} reach={total?.reach} name={name} />
      {total === undefined ? <span class="quiet">by layer only</span> : <Figures measure={total} />}
      <div class="criterion-text">
        {definition !== undefined && (
          <p>
            {definition.text} <cite>{definition.source}</cite>
          </p>
        )}
        {total !== undefined && total.note !== "" && <p class="quiet">{total.note}</p>}
      </div>
    </li>
  );
}

function ByClass({ list }: { list: readonly Criterion[] }) {
  const chosen = list.filter(({ byClass }) => byClass.size > 0);
  if (chosen.length === 0) return null;
  const classes = [...new Set(chosen.flatMap(({ byClass }) => [...byClass.keys()]))];
  return (
    <>
      <div class="tools">
        <h3>By class</h3>
        <ScaleLegend />
      </div>
      <Scroll name="Coverage by class">
        <table class="heat">
          <caption class="unseen">Coverage by class</caption>
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
                  const share = byClass.get(of)?.coverage;
                  return (
                    <td key={of} style={shade(share)}>
                      {share === undefined ? "–" : percent(share, 1)}
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
          ? "Solid is covered; hatched is attainable but not covered; what is left blank no test can reach."
          : undefined
      }
    >
      <ul class="criteria">
        {list.map((criterion) => (
          <CriterionLine key={criterion.name} criterion={criterion} />
        ))}
      </ul>
      <ByClass list={list} />
      {table !== undefined && (
        <Behind title="Every figure: by layer, class and context">
          <DataTable table={table} caption={false} />
        </Behind>
      )}
    </Section>
  );
}
