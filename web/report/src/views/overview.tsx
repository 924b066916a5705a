import { criteria } from "../model/criteria";
import type { Document } from "../model/document";
import { percent, plural } from "../model/format";
import { shade } from "../model/scale";
import { ScaleLegend } from "../parts/legend";
import { Scroll } from "../parts/scroll";
import { Section } from "../parts/section";
import { address } from "../route";

function verdict({ gates, warnings }: Document): { text: string; kind: string } {
  const failed = gates.filter(({ passed }) => !passed).length;
  const doubt = warnings.length === 0 ? "" : `, ${plural(warnings.length, "warning")}`;
  if (gates.length === 0) return { text: `no gates${doubt}`, kind: "badge" };
  if (failed === 0)
    return { text: `passed, ${plural(gates.length, "gate")}${doubt}`, kind: "badge badge-passed" };
  return { text: `failed, ${failed} of ${plural(gates.length, "gate")}${doubt}`, kind: "badge badge-failed" };
}

/** Totals of all documents, one line for each, one column for each criterion that any of them measures. */
function SideBySide({ documents }: { documents: readonly Document[] }) {
  const totals = documents.map(
    (document) => new Map(criteria(document).map(({ name, total }) => [name, total?.coverage])),
  );
  const names = [...new Set(totals.flatMap((map) => [...map.keys()]))];
  if (names.length === 0) return null;
  return (
    <Section id="side-by-side" title="Side by side">
      <div class="tools">
        <ScaleLegend />
      </div>
      <Scroll name="Coverage of all documents by criterion">
        <table class="heat">
          <caption class="unseen">Coverage of all documents by criterion</caption>
          <thead>
            <tr>
              <th scope="col">document</th>
              {names.map((name) => (
                <th key={name} scope="col" class="right">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {documents.map((document, i) => (
              <tr key={i}>
                <th scope="row">
                  <a class="name" href={address({ page: "document", document: i })}>
                    {i + 1} {document.command}
                  </a>
                </th>
                {names.map((name) => {
                  const share = totals[i]?.get(name);
                  return (
                    <td key={name} style={shade(share)}>
                      {share === undefined ? <span class="absent">–</span> : percent(share, 1)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Section>
  );
}

export function Overview({ documents }: { documents: readonly Document[] }) {
  return (
    <>
      <h1 tabIndex={-1}>
        <span class="kicker">Assay report</span> {plural(documents.length, "document")}
      </h1>
      <ol class="documents">
        {documents.map((document, i) => {
          const { text, kind } = verdict(document);
          return (
            <li key={i}>
              <a href={address({ page: "document", document: i })}>
                <span class="document-command">{document.command}</span>
                <span class="document-headline">{document.headline}</span>
                <span class={kind}>{text}</span>
              </a>
            </li>
          );
        })}
      </ol>
      <SideBySide documents={documents} />
    </>
  );
}
