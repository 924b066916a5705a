import type { Document } from "../model/document";
import { percent, plural, show } from "../model/format";
import { portfolio } from "../model/portfolio";
import { shade } from "../model/scale";
import { PlaceProvider } from "../parts/context";
import { Facts } from "../parts/facts";
import { ScaleLegend } from "../parts/legend";
import { Scroll } from "../parts/scroll";
import { Section } from "../parts/section";
import { address } from "../route";
import { Verdict } from "./verdict";

function verdict({ gates, warnings }: Document): { text: string; kind: string } {
  const failed = gates.filter(({ passed }) => !passed).length;
  const doubt = warnings.length === 0 ? "" : `, ${plural(warnings.length, "warning")}`;
  if (gates.length === 0) return { text: `no gates${doubt}`, kind: "badge" };
  if (failed === 0)
    return { text: `passed, ${plural(gates.length, "gate")}${doubt}`, kind: "badge badge-passed" };
  return { text: `failed, ${failed} of ${plural(gates.length, "gate")}${doubt}`, kind: "badge badge-failed" };
}

/** One line for each network and data set, one column for each criterion that any of the documents measures. */
function Portfolio({ documents }: { documents: readonly Document[] }) {
  const { names, rows } = portfolio(documents);
  if (names.length === 0) return null;
  return (
    <Section
      id="portfolio"
      title="Networks by criteria"
      lead="What all documents measured of each network, on each data set. A figure leads to its document."
    >
      <div class="tools">
        <ScaleLegend />
      </div>
      <Scroll name="Networks by criteria">
        <table class="heat">
          <caption class="unseen">Networks by criteria</caption>
          <thead>
            <tr>
              <th scope="col">network</th>
              {names.map((name) => (
                <th key={name} scope="col" class="right">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ network, data, figures }, i) => (
              <tr key={i}>
                <th scope="row">
                  <span class="name">{network}</span>
                  {data !== "" && <span class="quiet portfolio-data">{data}</span>}
                </th>
                {names.map((name) => {
                  const figure = figures.get(name);
                  if (figure === undefined) {
                    return (
                      <td key={name}>
                        <span class="absent">–</span>
                      </td>
                    );
                  }
                  return (
                    <td key={name} style={shade(figure.share)}>
                      <a href={address({ page: "document", document: figure.document })}>
                        {figure.share === undefined
                          ? show(figure.value ?? null, "number")
                          : percent(figure.share, 1)}
                      </a>
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

/** Of an evidence pack: what its requirements came to and who decided, before anything that was measured. */
function Decision({ document }: { document: Document }) {
  return (
    <PlaceProvider value={{ document, index: 0 }}>
      <p class="decision">{document.headline}</p>
      <Verdict gates={document.gates} />
      <Facts
        facts={document.facts.map(({ title, value, kind }) => ({
          name: title,
          value: show(value, kind, title),
        }))}
      />
    </PlaceProvider>
  );
}

export function Overview({ documents }: { documents: readonly Document[] }) {
  const [first] = documents;
  return (
    <>
      <h1 tabIndex={-1}>
        <span class="kicker">Assay report</span> {plural(documents.length, "document")}
      </h1>
      {first?.command === "evidence" && <Decision document={first} />}
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
      <Portfolio documents={documents} />
    </>
  );
}
