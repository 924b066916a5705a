import { expect, test } from "vitest";
import { matrix, numbers, strongestGroup, symbols } from "../../src/model/affinity";

const column = (id: string) => ({ id, title: id, kind: "text" as const });
const row = (unit: number, hypothesis: string, score: number | null) => ({
  model: "net",
  group: "fc",
  hypothesis,
  measure: "pearson",
  unit,
  score,
});
const table = {
  id: "scores",
  title: "Scores",
  columns: ["model", "group", "hypothesis", "measure", "unit", "score"].map(column),
  rows: [row(0, "a", 0.1), row(1, "a", -0.9), row(0, "b", 0.5), row(1, "b", null)],
};

test("scores become lines of hypotheses with the strongest unit first", () => {
  const { lines, units, scale } = matrix(table, "net: fc", "pearson");
  expect(units).toEqual(["1", "0"]);
  expect(scale).toBe(1);
  expect(lines.map(({ hypothesis, strongest }) => [hypothesis, strongest])).toEqual([
    ["a", 0.9],
    ["b", 0.5],
  ]);
  expect(lines[1]?.scores.has("1")).toBe(false);
  expect(matrix(table, "net: other", "pearson").lines).toEqual([]);
});

test("the group with the strongest score is the first one shown", () => {
  const other = { ...row(7, "a", -0.95), group: "conv" };
  expect(strongestGroup({ ...table, rows: [...table.rows, other] }, "pearson")).toBe("net: conv");
  expect(strongestGroup(table, "pearson")).toBe("net: fc");
  expect(strongestGroup({ ...table, rows: [row(1, "b", null)] }, "pearson")).toBe("");
});

test("values and symbols are read back, and damaged ones are none", () => {
  expect(numbers("1,nan,-0.5")).toEqual([1, undefined, -0.5]);
  expect(numbers(null)).toEqual([]);
  expect(symbols('["a","<b>"]')).toEqual(["a", "<b>"]);
  expect(symbols("{")).toEqual([]);
});
