/** The result document (docs/schema/result.schema.json) as the page reads it. */

export type Cell = string | number | boolean | null;
export type Kind = "text" | "count" | "number" | "fraction";
export type Row = Readonly<Record<string, Cell>>;

export interface Column {
  readonly id: string;
  readonly title: string;
  readonly kind: Kind;
}

export interface Table {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export interface Picture {
  readonly title: string;
  readonly data: string;
}

export interface Definition {
  readonly term: string;
  readonly text: string;
  readonly source: string;
}

export interface Gate {
  readonly text: string;
  readonly criterion: string;
  readonly layer: string;
  readonly class: string;
  readonly context: string;
  readonly relation: string;
  readonly threshold: Cell;
  readonly value: Cell;
  readonly covered: Cell;
  readonly coverable: Cell;
  readonly passed: boolean;
  readonly reason: string;
}

/** What makes figures doubtful. */
export interface Warning {
  readonly id: string;
  readonly text: string;
  readonly cause: string;
}

export interface Fact {
  readonly id: string;
  readonly title: string;
  readonly value: Cell;
  readonly kind: Kind;
}

export interface Document {
  readonly command: string;
  readonly headline: string;
  readonly facts: readonly Fact[];
  readonly tables: ReadonlyMap<string, Table>;
  readonly pictures: readonly Picture[];
  readonly warnings: readonly Warning[];
  readonly notices: readonly string[];
  readonly definitions: readonly Definition[];
  readonly provenance: readonly (readonly [string, Cell])[];
  readonly gates: readonly Gate[];
}

type Json = Readonly<Record<string, unknown>>;

const KINDS: ReadonlySet<unknown> = new Set<Kind>(["text", "count", "number", "fraction"]);
const PICTURE = /^data:image\/(png|jpeg|gif|webp|bmp|svg\+xml)[;,]/i;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : String(value);
}

function cell(value: unknown): Cell {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return value === undefined || value === null ? null : JSON.stringify(value);
}

function entries(value: unknown): (readonly [string, Cell])[] {
  return isObject(value) ? Object.entries(value).map(([key, v]) => [key, cell(v)] as const) : [];
}

function column(value: unknown): Column | undefined {
  if (!isObject(value) || text(value.id) === "") return undefined;
  const kind = KINDS.has(value.kind) ? (value.kind as Kind) : "text";
  return { id: text(value.id), title: text(value.title) || text(value.id), kind };
}

/** A row is an object by column id or, to save space, an array in the order of the columns. */
function row(value: unknown, columns: readonly Column[]): Row {
  const result: Record<string, Cell> = Object.create(null);
  columns.forEach(({ id }, i) => {
    result[id] = cell(Array.isArray(value) ? value[i] : isObject(value) ? value[id] : null);
  });
  return result;
}

function table(id: string, value: unknown): Table {
  const source = isObject(value) ? value : {};
  const columns = list(source.columns)
    .map(column)
    .filter((c) => c !== undefined);
  return {
    id,
    title: text(source.title) || id,
    columns,
    rows: list(source.rows).map((r) => row(r, columns)),
  };
}

/** True for an address that holds its picture itself; nothing is ever fetched. */
export function isPicture(address: Cell | undefined): address is string {
  return typeof address === "string" && PICTURE.test(address);
}

function picture(value: unknown): Picture | undefined {
  if (!isObject(value)) return undefined;
  const data = cell(value.data);
  return isPicture(data) ? { title: text(value.title), data } : undefined;
}

function gate(value: unknown): Gate {
  const source = isObject(value) ? value : {};
  return {
    text: text(source.text),
    criterion: text(source.criterion),
    layer: text(source.layer),
    class: text(source.class),
    context: text(source.context),
    relation: text(source.relation),
    threshold: cell(source.threshold),
    value: cell(source.value),
    covered: cell(source.covered),
    coverable: cell(source.coverable),
    passed: source.passed === true,
    reason: text(source.reason),
  };
}

/** Failed gates first; a gate without a verdict counts as failed. */
function gates(value: unknown): Gate[] {
  return list(value)
    .map(gate)
    .sort((a, b) => Number(a.passed) - Number(b.passed));
}

/** Figures, with heading and kind from `fact_columns`; without them the key's words and plain text. */
function facts(source: Record<string, unknown>): Fact[] {
  const columns = isObject(source.fact_columns) ? source.fact_columns : {};
  return entries(source.facts).map(([id, value]) => {
    const column = isObject(columns[id]) ? columns[id] : {};
    const kind = KINDS.has(column.kind) ? (column.kind as Kind) : "text";
    return { id, title: text(column.title) || id.replaceAll("_", " "), value, kind };
  });
}

function document(value: unknown): Document {
  if (!isObject(value)) throw new Error("a document of this report is not an object");
  if (value.schema !== undefined && value.schema !== "assay/result") {
    throw new Error(`a document of this report has the schema '${text(value.schema)}', not 'assay/result'`);
  }
  const tables = isObject(value.tables) ? Object.entries(value.tables) : [];
  return {
    command: text(value.command),
    headline: text(value.headline),
    facts: facts(value),
    tables: new Map(tables.map(([id, t]) => [id, table(id, t)])),
    pictures: list(value.pictures)
      .map(picture)
      .filter((p) => p !== undefined),
    warnings: list(value.warnings)
      .filter(isObject)
      .map((w) => ({ id: text(w.id), text: text(w.text), cause: text(w.cause) })),
    notices: list(value.notices).map(text),
    definitions: list(value.definitions)
      .filter(isObject)
      .map((d) => ({ term: text(d.term), text: text(d.text), source: text(d.source) })),
    provenance: entries(value.provenance),
    gates: gates(value.gates),
  };
}

/** Reads what the page holds. Parts that are missing are empty; throws where nothing can be shown. */
export function parse(json: string): Document[] {
  if (/^[A-Z]+$/.test(json.trim()))
    throw new Error("this page is the empty template: no results were written into it");
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new Error(`the results in this page are not valid JSON: ${(error as Error).message}`);
  }
  const documents = isObject(value) ? list(value.documents) : [];
  if (documents.length === 0) throw new Error("this page holds no documents");
  return documents.map(document);
}
