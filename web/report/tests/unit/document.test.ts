import { describe, expect, it } from "vitest";
import { isPicture, parse } from "../../src/model/document";
import { hostile, lenet } from "../fixtures/documents";

const read = (document: unknown) => parse(JSON.stringify({ documents: [document] }))[0];

describe("parse", () => {
  it("keeps what the program wrote", () => {
    const document = read(lenet());
    expect(document?.tables.size).toBe(15);
    expect(document?.facts[0]).toEqual({ id: "accuracy", title: "accuracy", value: 0.9887, kind: "text" });
    expect(document?.tables.get("neurons")?.rows).toHaveLength(258);
  });
  it("reads rows as objects and as arrays alike", () => {
    const columns = [
      { id: "a", title: "A", kind: "text" },
      { id: "b", title: "B", kind: "count" },
    ];
    const of = (rows: unknown[]) =>
      read({ tables: { t: { title: "T", columns, rows } } })?.tables.get("t")?.rows[0];
    expect({ ...of([["x", 3]]) }).toEqual({ a: "x", b: 3 });
    expect({ ...of([{ b: 3, a: "x" }]) }).toEqual({ a: "x", b: 3 });
  });
  it("puts failed gates first, and counts a gate without a verdict as failed", () => {
    const gates = read({
      gates: [{ text: "a", passed: true }, { text: "b" }, { text: "c", passed: false }],
    })?.gates;
    expect(gates?.map(({ text }) => text)).toEqual(["b", "c", "a"]);
  });
  it("takes pictures only from inside the page", () => {
    expect(isPicture("data:image/png;base64,AA")).toBe(true);
    for (const bad of [
      "https://example.org/a.png",
      "javascript:1",
      "data:text/html,x",
      "file:///a.png",
      null,
      3,
    ]) {
      expect(isPicture(bad)).toBe(false);
    }
  });
  it("gives no row a prototype to pollute", () => {
    const document = JSON.parse(
      '{"tables":{"t":{"columns":[{"id":"__proto__"}],"rows":[{"__proto__":{"x":1}}]}}}',
    );
    expect(read(document)?.tables.get("t")?.rows).toHaveLength(1);
    expect(({} as { x?: number }).x).toBeUndefined();
  });
  it("survives hostile documents", () => expect(read(hostile())?.gates[0]?.passed).toBe(false));
  it.each([
    "PLACEHOLDER",
    "{",
    '{"documents":[]}',
    '{"documents":[3]}',
    '{"documents":[{"schema":"x"}]}',
    "null",
  ])("refuses %s", (json) => {
    expect(() => parse(json)).toThrow();
  });
});
