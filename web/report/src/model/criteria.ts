import type { Definition, Document, Row } from "./document";
import { numeric } from "./format";
import { groups, label } from "./rows";

export interface Measure {
  readonly coverage: number | undefined;
  /** Of measures that are not a share of items. */
  readonly value: number | undefined;
  readonly attainable: number | undefined;
  readonly covered: string;
  readonly coverable: string;
  readonly attainableCount: string;
  /** Share of the obligations that is attainable: how far coverage could go. */
  readonly reach: number | undefined;
  readonly note: string;
}

export interface Criterion {
  readonly name: string;
  readonly definition: Definition | undefined;
  /** Over all layers, classes and contexts; undefined where the document has only parts. */
  readonly total: Measure | undefined;
  readonly byLayer: ReadonlyMap<string, Measure>;
  readonly byClass: ReadonlyMap<string, Measure>;
}

function reach(row: Row): number | undefined {
  const [part, all] = [numeric(row.attainable), numeric(row.coverable)];
  return part === undefined || all === undefined || all <= 0 ? undefined : part / all;
}

function measure(row: Row): Measure {
  return {
    coverage: numeric(row.coverage),
    value: numeric(row.measure),
    attainable: numeric(row.attainable_coverage),
    covered: label(row.covered),
    coverable: label(row.coverable),
    attainableCount: label(row.attainable),
    reach: reach(row),
    note: label(row.note),
  };
}

const everything = (cell: string) => cell === "" || cell === "all";
const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");

/** "KMNC(k=1000)" finds the term "KMNC", unless there is one of its own. */
export function definitionOf(document: Document, criterion: string): Definition | undefined {
  const exact = document.definitions.find(({ term }) => plain(term) === plain(criterion));
  const stem = plain(criterion.split(/[([{:]/)[0] ?? "");
  return exact ?? document.definitions.find(({ term }) => plain(term) === stem);
}

function part(rows: readonly Row[], column: "layer" | "class"): Map<string, Measure> {
  const other = column === "layer" ? "class" : "layer";
  const chosen = rows.filter(
    (row) =>
      !everything(label(row[column])) && everything(label(row[other])) && everything(label(row.context)),
  );
  return new Map(chosen.map((row) => [label(row[column]), measure(row)]));
}

/** Those that have figures by class alone are in the table of classes. */
export const hasLines = ({ total, byLayer }: Criterion) => total !== undefined || byLayer.size > 0;

/** "idc" of "idc[m=6]". */
export const familyOf = (name: string) => name.split("[")[0] ?? name;
/** "m=6" of "idc[m=6]"; empty without options. */
export const variantOf = (name: string) => name.slice(familyOf(name).length).replace(/^\[|\]$/g, "");

/** Variants of one criterion together, in the order in which the first of each comes. */
export function families(list: readonly Criterion[]): { name: string; variants: Criterion[] }[] {
  const found = new Map<string, Criterion[]>();
  for (const criterion of list) {
    const name = familyOf(criterion.name);
    found.set(name, [...(found.get(name) ?? []), criterion]);
  }
  return [...found].map(([name, variants]) => ({ name, variants }));
}

/** Criteria in the order in which the document names them. */
export function criteria(document: Document): Criterion[] {
  const table = document.tables.get("criteria");
  if (table === undefined) return [];
  return [...groups(table.rows, (row) => label(row.criterion))].map(([name, rows]) => {
    const total = rows.find(
      (row) => everything(label(row.layer)) && everything(label(row.class)) && everything(label(row.context)),
    );
    return {
      name,
      definition: definitionOf(document, name),
      total: total === undefined ? undefined : measure(total),
      byLayer: part(rows, "layer"),
      byClass: part(rows, "class"),
    };
  });
}
