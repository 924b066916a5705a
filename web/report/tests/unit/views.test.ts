import { describe, expect, it } from "vitest";
import { parse } from "../../src/model/document";
import { otherTables, shownViews } from "../../src/views/catalogue";

const withRecords = (...ids: string[]) => {
  const columns = ids.map((id) => ({ id, title: id, kind: "text" }));
  const records = { title: "Records", columns, rows: [ids.map(() => "x")] };
  const [document] = parse(JSON.stringify({ documents: [{ tables: { records } }] }));
  if (document === undefined) throw new Error("no document");
  return document;
};

describe("the view of records", () => {
  it("shows records with a picture or a prediction", () => {
    for (const column of ["thumbnail", "prediction"])
      expect(shownViews(withRecords("record", column)).map(({ id }) => id)).toContain("records");
  });
  it("leaves records without either to a table", () => {
    const document = withRecords("record", "outcome", "margin");
    expect(shownViews(document).map(({ id }) => id)).not.toContain("records");
    expect(otherTables(document).map(({ id }) => id)).toContain("records");
  });
});

describe("the view of shaded words", () => {
  const explained = (...ids: string[]) => {
    const table = (columns: string[]) => ({
      title: "",
      columns: columns.map((id) => ({ id, title: id, kind: "text" })),
      rows: [Object.fromEntries(columns.map((id) => [id, "x"]))],
    });
    const tables = { texts: table(["record", "class", "text"]), words: table(ids) };
    const [document] = parse(JSON.stringify({ documents: [{ tables }] }));
    if (document === undefined) throw new Error("no document");
    return document;
  };
  it("shows texts that were explained word by word, and no other view takes their words", () => {
    const document = explained("record", "position", "word", "relevance", "share");
    expect(shownViews(document).map(({ id }) => id)).toEqual(["words"]);
    expect(otherTables(document)).toEqual([]);
  });
  it("leaves other tables of words alone", () => {
    const document = explained("word", "count");
    expect(shownViews(document)).toEqual([]);
    expect(otherTables(document).map(({ id }) => id)).toEqual(["texts", "words"]);
  });
});
