import { criteria } from "./criteria";
import type { Document } from "./document";
import { label } from "./rows";

/** A figure of a network, and the position of the document that it stands in. */
export interface Figure {
  readonly document: number;
  readonly share: number | undefined;
  /** Of measures that are not a share of items. */
  readonly value: number | undefined;
}

export interface PortfolioRow {
  readonly network: string;
  readonly data: string;
  readonly figures: ReadonlyMap<string, Figure>;
}

const provenance = (document: Document, key: string) =>
  label(document.provenance.find(([name]) => name === key)?.[1]);

/** "t10k.gz[:500]" of "/data/t10k.gz[:500] (IDX, 500 records)". */
export const shortData = (text: string) => text.replace(/ \(.*$/, "").replace(/^.*\//, "");

/** Networks and data in the order in which they come, with what all documents measured of them. */
export function portfolio(documents: readonly Document[]): { names: string[]; rows: PortfolioRow[] } {
  const rows: { key: string; network: string; data: string; figures: Map<string, Figure> }[] = [];
  const names = new Set<string>();
  documents.forEach((document, index) => {
    const network = provenance(document, "model") || document.command;
    const data = shortData(provenance(document, "test") || provenance(document, "data"));
    const key = [
      network,
      provenance(document, "model_hash"),
      data,
      provenance(document, "test_hash") || provenance(document, "data_hash"),
    ].join("\n");
    for (const { name, total } of criteria(document)) {
      if (total === undefined) continue;
      names.add(name);
      let row = rows.find((one) => one.key === key && !one.figures.has(name));
      if (row === undefined) {
        row = { key, network, data, figures: new Map() };
        rows.push(row);
      }
      row.figures.set(name, { document: index, share: total.coverage, value: total.value });
    }
  });
  return { names: [...names], rows };
}
