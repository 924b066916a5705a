import { criteria } from "./criteria";
import type { Document, Row } from "./document";
import { numeric } from "./format";
import { fractions, label } from "./rows";

export interface LayerShare {
  readonly layer: string;
  readonly row: Row;
  readonly neurons: number | undefined;
  /** Coverage by criterion. */
  readonly shares: ReadonlyMap<string, number>;
}

export interface Network {
  readonly layers: readonly LayerShare[];
  readonly criteria: readonly { readonly id: string; readonly title: string }[];
}

const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Layers in network order with the coverage of each: the columns of `layers`, and what `criteria` and `idc` add by layer. */
export function network(document: Document): Network {
  const table = document.tables.get("layers");
  const idc = document.tables.get("idc");
  const measured = criteria(document);
  const names = new Map<string, Map<string, number>>();
  const order: { row: Row; layer: string }[] = [];
  const add = (layer: string, row: Row) => {
    if (layer === "" || layer === "all" || names.has(layer)) return;
    names.set(layer, new Map());
    order.push({ layer, row });
  };
  for (const row of table?.rows ?? []) add(label(row.layer), row);
  for (const { byLayer } of measured) for (const layer of byLayer.keys()) add(layer, {});
  for (const row of idc?.rows ?? []) add(label(row.layer), {});

  const titles = new Map<string, { id: string; title: string }>();
  const put = (layer: string, title: string, share: number | undefined) => {
    if (share === undefined) return;
    const key = plain(title);
    if (!titles.has(key)) titles.set(key, { id: key, title });
    const shares = names.get(layer);
    if (shares !== undefined && !shares.has(key)) shares.set(key, share);
  };
  for (const { id, title } of fractions(table)) {
    for (const row of table?.rows ?? []) put(label(row.layer), title || id, numeric(row[id]));
  }
  for (const { name, byLayer } of measured)
    for (const [layer, { coverage }] of byLayer) put(layer, name, coverage);
  const several = new Set((idc?.rows ?? []).map((row) => label(row.layer))).size < (idc?.rows.length ?? 0);
  const known = measured.some(({ name }) => plain(name).startsWith("idc"));
  for (const row of known ? [] : (idc?.rows ?? []))
    put(label(row.layer), several ? `IDC, m = ${label(row.m)}` : "IDC", numeric(row.idc));
  return {
    criteria: [...titles.values()],
    layers: order.map(({ layer, row }) => ({
      layer,
      row,
      neurons: numeric(row.neurons),
      shares: names.get(layer) ?? new Map(),
    })),
  };
}

/** The criterion that is shown first: one that tells layers apart, where there is one. */
export function firstShown({ criteria, layers }: Network) {
  const figures = (id: string) => layers.filter(({ shares }) => shares.has(id)).length;
  return criteria.find(({ id }) => figures(id) > 1) ?? criteria[0];
}

/** What a strip of layers shows: the layers themselves, and what is between them where the criterion has a figure. */
export const stripOf = (layers: readonly LayerShare[], criterion: string) =>
  layers.filter(({ row, shares }) => shares.has(criterion) || Object.keys(row).length > 0);
