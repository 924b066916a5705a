import { describe, expect, it } from "vitest";
import { parse } from "../../src/model/document";
import { portfolio, shortData } from "../../src/model/portfolio";

const result = (model: string, test: string, figures: Record<string, number>) => ({
  command: "cover",
  provenance: { model, model_hash: `hash of ${model}`, test, test_hash: `hash of ${test}` },
  tables: {
    criteria: {
      columns: [{ id: "criterion" }, { id: "layer" }, { id: "coverage", kind: "fraction" }],
      rows: Object.entries(figures).map(([criterion, coverage]) => ({ criterion, layer: "all", coverage })),
    },
  },
});
const read = (...values: unknown[]) => portfolio(parse(JSON.stringify({ documents: values })));

describe("portfolio", () => {
  it("joins what several documents say of one network and data set", () => {
    const { names, rows } = read(
      result("a", "/x/t.npz (NumPy, 5 records)", { nc: 0.5 }),
      result("b", "/x/t.npz (NumPy, 5 records)", { nc: 0.25 }),
      result("a", "/x/t.npz (NumPy, 5 records)", { mutation: 0.75 }),
    );
    expect(names).toEqual(["nc", "mutation"]);
    expect(rows.map(({ network, data }) => [network, data])).toEqual([
      ["a", "t.npz"],
      ["b", "t.npz"],
    ]);
    expect(rows[0]?.figures.get("nc")).toEqual({ document: 0, share: 0.5, value: undefined });
    expect(rows[0]?.figures.get("mutation")).toEqual({ document: 2, share: 0.75, value: undefined });
    expect(rows[1]?.figures.has("mutation")).toBe(false);
  });
  it("keeps other data, and figures measured twice, apart", () => {
    const { rows } = read(
      result("a", "t.npz (NumPy)", { nc: 0.5 }),
      result("a", "u.npz (NumPy)", { nc: 0.6 }),
      result("a", "t.npz (NumPy)", { nc: 0.7 }),
    );
    expect(rows.map(({ data, figures }) => [data, figures.get("nc")?.share])).toEqual([
      ["t.npz", 0.5],
      ["u.npz", 0.6],
      ["t.npz", 0.7],
    ]);
  });
  it("is empty where nothing is measured", () => {
    expect(read({ command: "data" })).toEqual({ names: [], rows: [] });
    expect(shortData("a b.npz[:5] (NumPy, 5 records)")).toBe("a b.npz[:5]");
  });
});
