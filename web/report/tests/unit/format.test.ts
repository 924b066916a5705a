import { describe, expect, it } from "vitest";
import {
  count,
  number,
  numbers,
  numeric,
  percent,
  percentAtMost,
  pieces,
  readable,
  show,
} from "../../src/model/format";

describe("percentAtMost", () => {
  it.each([
    [0.03012, "3.02\u00a0%"],
    [0.0301, "3.01\u00a0%"],
    [0, "0.00\u00a0%"],
    [1e-9, "0.01\u00a0%"],
    [0.99991, "100.00\u00a0%"],
    [1, "100.00\u00a0%"],
  ])("%d is at most %s", (value, text) => {
    expect(percentAtMost(value)).toBe(text);
    expect(show(value, "fraction", "failures at most")).toBe(text);
    expect(show(value, "fraction", "to")).toBe(text);
    expect(show(value, "fraction", "failures")).toBe(percent(value));
  });
});

describe("percent", () => {
  it.each([
    [0, "0.00\u00a0%"],
    [1, "100.00\u00a0%"],
    [0.99999999, "99.99\u00a0%"],
    [0.29, "29.00\u00a0%"],
    [0.57, "57.00\u00a0%"],
    [1 / 3, "33.33\u00a0%"],
    [2 / 3, "66.66\u00a0%"],
    [0.00001, "0.00\u00a0%"],
    [-0.25, "−25.00\u00a0%"],
    [1.5, "150.00\u00a0%"],
  ])("%d is %s: cut, never rounded up", (value, text) => expect(percent(value)).toBe(text));
  it("never shows all where something is missing", () => {
    for (const missing of [1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
      expect(percent(1 - missing)).not.toBe("100.00\u00a0%");
  });
  it("is exact on all two-digit percentages", () => {
    for (let i = 0; i <= 10000; i++)
      expect(percent(i / 10000)).toBe(`${Math.floor(i / 100)}.${String(i % 100).padStart(2, "0")}\u00a0%`);
  });
});

describe("cells", () => {
  it("keeps counts of any length exact", () =>
    expect(count("12345678901234567890")).toBe("12 345 678 901 234 567 890"));
  it("shows what is not applicable as such", () =>
    expect([show(null), show(undefined), show("")]).toEqual(["–", "–", "–"]));
  it("shows strings for what JSON has no number for", () => expect(show("NaN", "fraction")).toBe("NaN"));
  it("shows numbers with four digits", () =>
    expect([1234.5678, 0.012345, 1e-7, 2e9, -1.5].map(number)).toEqual([
      "1235",
      "0.01235",
      "1.000e−7",
      "2.000e9",
      "−1.500",
    ]));
  it("reads numbers out of cells", () =>
    expect([numeric("3.5"), numeric(""), numeric("Infinity"), numeric(true), numeric("x")]).toEqual([
      3.5,
      undefined,
      undefined,
      undefined,
      undefined,
    ]));
  it("breaks names between their options", () => {
    expect(pieces("pgd[eps=0.1,steps=40]@conv")).toEqual(["pgd", "[eps=0.1,", "steps=40]@conv"]);
    expect(pieces("nc")).toEqual(["nc"]);
  });
  it("reads lists", () => expect(numbers("3, 1,x,4")).toEqual([3, 1, 4]));
});

describe("texts", () => {
  it("keep percent signs with their numbers and times on one line", () => {
    expect(readable("12.50 % of 2026-11-29T15:33:41Z, 100%")).toBe(
      "12.50\u00a0% of 2026-11-29 15:33:41\u00a0UTC, 100%",
    );
  });
});
