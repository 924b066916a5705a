import type { ComponentType } from "preact";
import type { Document } from "../model/document";
import { Apfd } from "./apfd";
import { Attacks } from "./attacks";
import { Orders, Verdicts } from "./audit";
import { Characteristics } from "./characteristics";
import { Comparison } from "./comparison";
import { Contexts } from "./contexts";
import { Criteria } from "./criteria";
import { Explanations } from "./explanations";
import { Exploration } from "./exploration";
import { Growth } from "./growth";
import { Importance } from "./importance";
import { Inspection } from "./inspection";
import { Mutants } from "./mutants";
import { NetworkMap } from "./network";
import { Radii } from "./radii";
import { Records } from "./records";
import { isRanking, Relevance } from "./relevance";
import { Retraining } from "./retraining";
import { Robustness } from "./robustness";
import { Trends } from "./trends";
import { hasShadedWords, Words } from "./words";

export interface View {
  /** Also the anchor of its section. */
  readonly id: string;
  readonly title: string;
  /** Ids of the tables that the view shows; they are not repeated among the other tables. */
  readonly tables: readonly string[];
  readonly Component: ComponentType<{ document: Document }>;
  /** Where the tables alone do not tell whether the view is for the document. */
  readonly when?: (document: Document) => boolean;
}

/** Its criteria are the accuracies that the view of retraining draws. */
const isRetraining = (document: Document) => usable(document, "retraining");

/** Its criteria are the figures that the view of drop curves draws. */
const isRobustness = (document: Document) => usable(document, "severities");

/** Records with a picture or a prediction; others are a table. */
const isLookedAt = (document: Document) =>
  document.tables.get("records")?.columns.some(({ id }) => id === "thumbnail" || id === "prediction") ??
  false;

/** Figures of two results, not those of one. */
const isComparison = (document: Document) =>
  document.tables.get("figures")?.columns.some(({ id }) => id === "outcome") ?? false;

/** Views in the order of the page. A view is shown where the document has one of its tables with rows. */
export const views: readonly View[] = [
  {
    id: "figures",
    title: "Better and worse",
    tables: ["figures"],
    Component: Comparison,
    when: isComparison,
  },
  {
    id: "verdicts",
    title: "Criteria and faults",
    tables: ["verdicts", "words"],
    Component: Verdicts,
    when: (document) => usable(document, "verdicts"),
  },
  {
    id: "words",
    title: "Which words decide",
    tables: ["texts", "words"],
    Component: Words,
    when: hasShadedWords,
  },
  { id: "orders", title: "Orders and faults", tables: ["orders"], Component: Orders },
  { id: "mutants", title: "Mutants", tables: ["mutants", "survivors"], Component: Mutants },
  { id: "attacks", title: "Attacks", tables: ["attacks"], Component: Attacks },
  {
    id: "drops",
    title: "Drop curves",
    tables: ["curves", "severities", "criteria"],
    Component: Robustness,
    when: isRobustness,
  },
  {
    id: "explanations",
    title: "Explanations",
    tables: ["explanations", "points"],
    Component: Explanations,
    when: (document) => usable(document, "explanations"),
  },
  { id: "radii", title: "Radii", tables: ["radii"], Component: Radii },
  {
    id: "trends",
    title: "Trends",
    tables: ["trends", "values"],
    Component: Trends,
    when: (document) => usable(document, "values"),
  },
  {
    id: "networks",
    title: "Networks",
    tables: ["networks", "answers", "endings", "rounds", "findings"],
    Component: Exploration,
    when: (document) => usable(document, "networks"),
  },
  {
    id: "retraining",
    title: "Retraining",
    tables: ["retraining", "differences", "runs", "criteria"],
    Component: Retraining,
    when: isRetraining,
  },
  {
    id: "criteria",
    title: "Criteria",
    tables: ["criteria"],
    Component: Criteria,
    when: (document) => !isRetraining(document) && !isRobustness(document),
  },
  {
    id: "characteristics",
    title: "By characteristic",
    tables: ["by_characteristic", "by_pair", "by_group"],
    Component: Characteristics,
    when: (document) => usable(document, "by_characteristic"),
  },
  {
    id: "relevance",
    title: "Which neurons decide",
    tables: ["neurons", "layers"],
    Component: Relevance,
    when: isRanking,
  },
  {
    id: "network",
    title: "Network",
    tables: ["layers", "neurons", "histograms"],
    Component: NetworkMap,
    when: (document) => !isRanking(document),
  },
  {
    id: "importance",
    title: "Importance",
    tables: ["idc", "clusters", "uncovered", "combinations"],
    Component: Importance,
  },
  { id: "growth", title: "Growth", tables: ["growth"], Component: Growth },
  { id: "contexts", title: "Contexts", tables: ["contexts"], Component: Contexts },
  {
    id: "records",
    title: "Records",
    tables: ["records"],
    Component: Records,
    when: isLookedAt,
  },
  { id: "apfd", title: "Orders", tables: ["apfd"], Component: Apfd },
  {
    id: "inspection",
    title: "Units and hypotheses",
    tables: ["scores", "convergence", "close_ups"],
    Component: Inspection,
  },
];

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  criteria: ["criterion"],
  layers: ["layer"],
  neurons: ["layer", "neuron"],
  growth: ["criterion", "records", "coverage"],
  contexts: ["context", "criterion"],
  records: ["record"],
  apfd: ["order", "records", "found"],
  scores: ["group", "hypothesis", "measure", "unit", "score"],
  convergence: ["unit", "records", "score"],
  close_ups: ["group", "unit", "record"],
  mutants: ["operator"],
  attacks: ["attack", "success"],
  severities: ["curve", "severity", "accuracy"],
  by_characteristic: ["group", "value"],
  explanations: ["method", "measure", "mean"],
  points: ["method", "measure", "share", "probability"],
  radii: ["share", "certified"],
  figures: ["figure"],
  values: ["finished", "figure", "value"],
  networks: ["network", "after"],
  retraining: ["set", "condition", "mean"],
  verdicts: ["criterion", "faults", "verdict", "tau"],
  orders: ["order", "faults", "apfd"],
};

/** True where the document has the table with the columns that its view cannot do without. */
function usable(document: Document, id: string): boolean {
  const table = document.tables.get(id);
  if (table === undefined || table.rows.length === 0) return false;
  return (REQUIRED[id] ?? []).every((column) => table.columns.some((c) => c.id === column));
}

export const shownViews = (document: Document): View[] =>
  views.filter(({ tables, when }) => tables.some((id) => usable(document, id)) && (when?.(document) ?? true));

/** Tables that neither a view shows nor, as the legend, the pictures. */
export function otherTables(document: Document) {
  const shown = new Set(
    shownViews(document).flatMap(({ tables }) =>
      tables.filter((id) => usable(document, id) || id === "histograms"),
    ),
  );
  if (document.pictures.length > 0) shown.add("colours");
  return [...document.tables.values()].filter(({ id }) => !shown.has(id));
}
