import type { Document } from "../model/document";
import { plural, readable, show, words } from "../model/format";
import { DataTable } from "../parts/data-table";
import { Dated } from "../parts/dated";
import { Facts } from "../parts/facts";
import { ColourLegend } from "../parts/legend";
import { Behind, Section } from "../parts/section";
import { otherTables, shownViews } from "./catalogue";
import { Verdict } from "./verdict";
import { Warnings } from "./warnings";

export interface Entry {
  readonly id: string;
  readonly title: string;
}

/** The sections of a document's page, for the list of contents. */
export function contents(document: Document): Entry[] {
  const maybe = (shown: boolean, id: string, title: string) => (shown ? [{ id, title }] : []);
  return [
    ...maybe(document.gates.length > 0, "gates", "Verdict"),
    ...maybe(document.warnings.length > 0, "warnings", "Warnings"),
    ...shownViews(document).map(({ id, title }) => ({ id, title })),
    ...maybe(document.pictures.length > 0, "pictures", "Pictures"),
    ...maybe(otherTables(document).length > 0, "tables", "Tables"),
    ...maybe(document.definitions.length > 0, "definitions", "Definitions"),
    ...maybe(document.provenance.length > 0, "provenance", "Provenance"),
  ];
}

function Definitions({ document }: { document: Document }) {
  return (
    <Section id="definitions" title="Definitions">
      <Behind title={plural(document.definitions.length, "term")}>
        <dl class="definitions">
          {document.definitions.map(({ term, text, source }, i) => (
            <div key={i}>
              <dt>{term}</dt>
              <dd>
                {text} {source !== "" && <cite>{source}</cite>}
              </dd>
            </div>
          ))}
        </dl>
      </Behind>
    </Section>
  );
}

function Provenance({ document }: { document: Document }) {
  return (
    <Section id="provenance" title="Provenance">
      <dl class="provenance">
        {document.provenance.map(([key, value]) => (
          <div key={key}>
            <dt>{words(key)}</dt>
            <dd>{show(value)}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

/** Lines of text are too small to read beside each other. */
function showWide({ currentTarget: image }: Event) {
  if (!(image instanceof HTMLImageElement)) return;
  image.closest("li")?.classList.toggle("wide", image.naturalWidth > 4 * image.naturalHeight);
}

export function DocumentPage({ document }: { document: Document }) {
  const tables = otherTables(document);
  return (
    <>
      <h1 tabIndex={-1}>
        <span class="kicker">{document.command || "result"}</span>{" "}
        <Dated text={readable(document.headline || "Results")} />
      </h1>
      <Verdict gates={document.gates} />
      <Warnings warnings={document.warnings} />
      {document.notices.length > 0 && (
        <ul class="notices" aria-label="Notices">
          {document.notices.map((notice, i) => (
            <li key={i}>{notice}</li>
          ))}
        </ul>
      )}
      <Facts
        facts={document.facts.map(({ title, value, kind }) => ({
          name: title,
          value: show(value, kind, title),
        }))}
      />
      {shownViews(document).map(({ id, Component }) => (
        <Component key={id} document={document} />
      ))}
      {document.pictures.length > 0 && (
        <Section id="pictures" title="Pictures">
          <ColourLegend table={document.tables.get("colours")} />
          <ul class="pictures">
            {document.pictures.map(({ title, data }, i) => (
              <li key={i}>
                <figure>
                  <img src={data} alt="" onLoad={showWide} />
                  <figcaption>{title}</figcaption>
                </figure>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {tables.length > 0 && (
        <Section id="tables" title={shownViews(document).length > 0 ? "More tables" : "Tables"}>
          {tables.map((table) => (
            <DataTable key={table.id} table={table} />
          ))}
        </Section>
      )}
      {document.definitions.length > 0 && <Definitions document={document} />}
      {document.provenance.length > 0 && <Provenance document={document} />}
    </>
  );
}
