import { describe, expect, it } from "vitest";
import { figuresByGroup } from "../../src/model/characteristics";
import { comparison } from "../../src/model/comparison";
import { criteria, hasLines } from "../../src/model/criteria";
import { area, asShares, courses, curves } from "../../src/model/curves";
import { parse } from "../../src/model/document";
import { drops } from "../../src/model/drops";
import { histogram, outline } from "../../src/model/histogram";
import { clusters, combination } from "../../src/model/idc";
import { explanationCurves, radii, trends } from "../../src/model/lines";
import { mutantMap, tally } from "../../src/model/mutants";
import { firstShown, network, stripOf } from "../../src/model/network";
import { rankings } from "../../src/model/records";
import { intervals } from "../../src/model/retraining";
import { coloursOf, filtered, sorted } from "../../src/model/rows";
import { step } from "../../src/model/scale";
import {
  bounded,
  characterised,
  compared,
  dropped,
  explained,
  followed,
  labelledPixels,
  lenet,
} from "../fixtures/documents";

const read = (value: unknown) => {
  const document = parse(JSON.stringify({ documents: [value] }))[0];
  if (document === undefined) throw new Error("no document");
  return document;
};
const document = read(lenet());

describe("two results side by side", () => {
  it("differ by figure, what is worse first", () => {
    expect(comparison(read(compared()))).toEqual([
      {
        figure: "accuracy",
        left: 0,
        changes: [
          { name: "class 9", first: 0.9259, second: 0.8889, outcome: "worse" },
          { name: "in all", first: 0.8867, second: 0.8833, outcome: "worse" },
          { name: "class 1", first: 0.6333, second: 0.6667, outcome: "better" },
        ],
      },
    ]);
    expect(comparison(read(lenet()))).toEqual([]);
  });
});

describe("the legend of pictures", () => {
  it("names colours, and leaves out what is none", () => {
    expect(coloursOf(read(labelledPixels()).tables.get("colours"))).toEqual([
      ["road", "#ff0000"],
      ["sky <b>", "#004aff"],
    ]);
    expect(coloursOf(undefined)).toEqual([]);
  });
});

const rows = (id: string) => document.tables.get(id)?.rows ?? [];

describe("intervals of retraining", () => {
  const drawn = (row: Record<string, number | string | null>, shares: boolean) =>
    intervals([{ condition: "given", ...row }], shares).map(({ low, value, high }) => [low, value, high]);
  it("of shares stay within 0 and 1", () => {
    expect(drawn({ mean: 0.98, low: 0.8678, high: 1.0922 }, true)).toEqual([[0.8678, 0.98, 1]]);
    expect(drawn({ mean: 0.02, low: -0.1, high: 0.14 }, true)).toEqual([[0, 0.02, 0.14]]);
    expect(drawn({ mean: 0.5, low: null, high: null }, true)).toEqual([[0.5, 0.5, 0.5]]);
  });
  it("of errors stay as they are", () => {
    expect(drawn({ mean: 3, low: 1, high: 5 }, false)).toEqual([[1, 3, 5]]);
  });
});

describe("figures by characteristic", () => {
  const table = read(characterised()).tables.get("by_characteristic");
  it("have their intervals, and a colour where they differ from all others", () => {
    const items = table === undefined ? [] : (figuresByGroup(table)[0]?.items ?? []);
    expect(items.map(({ name, low }) => [name, low])).toEqual([
      ["weather=fog", 0.3866],
      ["sex=f", 0.762],
      ["weather=sun", 0.9134],
    ]);
    expect(items.map(({ colour }) => colour)).toEqual(["var(--accent)", "var(--quiet)", "var(--accent)"]);
  });
});

describe("criteria", () => {
  it("take their totals from the row of all layers and find their definitions", () => {
    const nc = criteria(document).find(({ name }) => name === "NC");
    const row = rows("criteria").find((r) => r.criterion === "NC" && r.layer === "all" && r.class === "");
    expect(nc?.total?.coverage).toBe(row?.coverage);
    expect(nc?.definition?.source).toContain("DeepXplore");
    expect([nc?.byLayer.size, nc?.byClass.size]).toEqual([7, 10]);
  });
  it("find the definition of a criterion with options", () => {
    const one = read({
      tables: { criteria: { columns: [{ id: "criterion" }], rows: [{ criterion: "KMNC(k=1000)" }] } },
      definitions: [{ term: "kmnc", text: "T", source: "" }],
    });
    expect(criteria(one)[0]?.definition?.text).toBe("T");
  });
});

describe("network", () => {
  it("keeps the order of layers and joins what other tables know of them", () => {
    const map = network(document);
    expect(map.layers.map(({ layer }) => layer)).toEqual([
      "conv1",
      "pool1",
      "conv2",
      "pool2",
      "fc1",
      "fc2",
      "out",
    ]);
    expect(map.criteria).toHaveLength(8);
  });
  it("lives without a table of layers", () => {
    const only = read({
      tables: {
        idc: {
          columns: [{ id: "layer" }, { id: "idc", kind: "fraction" }],
          rows: [{ layer: "fc", idc: 0.5 }],
        },
      },
    });
    expect(network(only).layers[0]?.shares.get("idc")).toBe(0.5);
  });
  it("is shown by a criterion that tells layers apart first, and pairs of layers by theirs alone", () => {
    const figures = (criterion: string, layers: readonly string[]) =>
      layers.map((layer) => ({ criterion, layer, coverage: 0.5 }));
    const map = network(
      read({
        tables: {
          layers: { columns: [{ id: "layer" }], rows: [{ layer: "a" }, { layer: "b" }] },
          criteria: {
            columns: [{ id: "criterion" }, { id: "layer" }, { id: "coverage", kind: "fraction" }],
            rows: [...figures("idc", ["b"]), ...figures("nc", ["a", "b"]), ...figures("ss", ["a → b"])],
          },
        },
      }),
    );
    expect(firstShown(map)?.title).toBe("nc");
    expect(stripOf(map.layers, "nc").map(({ layer }) => layer)).toEqual(["a", "b"]);
    expect(stripOf(map.layers, "ss").map(({ layer }) => layer)).toEqual(["a", "b", "a → b"]);
  });
  it("has a column of IDC for each number of neurons", () => {
    const several = read({
      tables: {
        idc: {
          columns: [{ id: "layer" }, { id: "m" }, { id: "idc", kind: "fraction" }],
          rows: [
            { layer: "fc", m: 6, idc: 0.5 },
            { layer: "fc", m: 8, idc: 0.25 },
          ],
        },
      },
    });
    expect(network(several).criteria.map(({ title }) => title)).toEqual(["IDC, m = 6", "IDC, m = 8"]);
    expect([...(network(several).layers[0]?.shares.values() ?? [])]).toEqual([0.5, 0.25]);
  });
});

describe("rows", () => {
  const some = [
    { a: 10, b: "x10" },
    { a: null, b: "x9" },
    { a: 2, b: "X2 y" },
    { a: "7", b: "" },
  ];
  it("sort by number, what is absent last in both directions", () => {
    expect(sorted(some, { column: "a", descending: false }).map(({ a }) => a)).toEqual([2, "7", 10, null]);
    expect(sorted(some, { column: "a", descending: true }).map(({ a }) => a)).toEqual([10, "7", 2, null]);
    expect(sorted(some, { column: "b", descending: false }).map(({ b }) => b)).toEqual([
      "X2 y",
      "x9",
      "x10",
      "",
    ]);
  });
  it("are filtered by all words", () => {
    const columns = [
      { id: "a", title: "a", kind: "text" as const },
      { id: "b", title: "b", kind: "text" as const },
    ];
    expect(filtered(some, columns, " y x2 ")).toEqual([some[2]]);
    expect(filtered(some, columns, "")).toBe(some);
  });
});

describe("scale", () => {
  it("keeps its ends for nothing and everything", () => {
    expect([0, 1e-9, 0.5, 1 - 1e-9, 1].map(step)).toEqual([0, 1, 5, 9, 10]);
    expect([-1, 7].map(step)).toEqual([0, 10]);
  });
});

describe("histograms", () => {
  it("are shares over equal bins", () => {
    const h = histogram({ low: 0, high: 4, train: "1,3", test: "0,5", boundaries: "2.5" });
    expect(h?.bins).toEqual([
      { from: 0, to: 2, train: 0.25, test: 0 },
      { from: 2, to: 4, train: 0.75, test: 1 },
    ]);
    expect(h?.boundaries).toEqual([2.5]);
    expect(outline(h?.bins ?? []).map(({ y }) => y)).toEqual([0, 0, 0, 1, 1, 0]);
  });
  it("need a range and counts", () => {
    expect(histogram({ low: "NaN", high: 1, train: "1" })).toBeUndefined();
    expect(histogram({ low: 0, high: 1, train: "" })).toBeUndefined();
    expect(histogram({ low: 2, high: 2, train: "4" })?.bins[0]).toEqual({
      from: 1.5,
      to: 2.5,
      train: 1,
      test: 0,
    });
  });
});

describe("importance", () => {
  it("reads clusters and combinations", () => {
    expect(clusters("-0.124 (512)  8.71e-3 (88)")).toEqual([
      { centroid: -0.124, records: 512 },
      { centroid: 0.00871, records: 88 },
    ]);
    expect([combination("2.0.11"), combination("x"), combination(3)]).toEqual([[2, 0, 11], [], [3]]);
  });
});

describe("curves", () => {
  it("start at the origin, sorted, with the area under them", () => {
    const table = {
      id: "t",
      title: "t",
      columns: [],
      rows: [
        { n: "a", x: 4, y: 1 },
        { n: "a", x: 2, y: 1 },
        { n: "b", x: "?", y: 1 },
      ],
    };
    const [a] = curves(table, "n", "x", "y");
    expect(a?.points).toEqual([
      { x: 0, y: 0 },
      { x: 2, y: 1 },
      { x: 4, y: 1 },
    ]);
    expect(area(a?.points ?? [])).toBe(0.75);
    expect(area([])).toBeUndefined();
  });
  it("bring counts to shares of the largest", () => {
    expect(
      asShares([
        { name: "a", points: [{ x: 1, y: 4 }] },
        { name: "b", points: [{ x: 1, y: 2 }] },
      ]).map(({ points }) => points[0]?.y),
    ).toEqual([1, 0.5]);
  });
});

describe("drop curves", () => {
  const [pgd, contrast, noise] = drops(read(dropped()));
  it("have their points by severity, whichever way the range goes", () => {
    expect(pgd?.points.map(({ severity }) => severity)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(pgd?.points[1]).toEqual({ severity: 0.1, accuracy: 0.7, low: 0.6332, high: 0.7592 });
    expect(contrast?.points.map(({ severity }) => severity)).toEqual([0.2, 0.5, 1]);
    expect([pgd?.option, pgd?.clean, pgd?.half]).toEqual(["eps", 0.98, 0.142]);
  });
  it("say where they fall to half, or that they do not", () => {
    expect(pgd?.figure).toBe("area 51.33\u00a0%, half at 0.1420");
    expect(contrast?.figure).toBe("area 97.00\u00a0%, half not reached");
    expect(noise?.figure).toBe("area 31.00\u00a0%, half before 2");
  });
});

describe("courses", () => {
  const course = (...scores: number[]) => ({
    id: "convergence",
    title: "",
    columns: [],
    rows: scores.map((score, i) => ({ unit: "fc 0, odd", records: 10 * (i + 1), score })),
  });
  it("are sizes of scores by records read", () => {
    expect(courses(course(-0.5, 0.25))).toEqual([
      {
        name: "fc 0, odd",
        points: [
          { x: 10, y: 0.5 },
          { x: 20, y: 0.25 },
        ],
      },
    ]);
  });
  it("need more than one block of records", () => {
    expect(courses(course(0.5))).toEqual([]);
  });
});

describe("records", () => {
  it("are ranked, infinite surprise first", () => {
    const table = {
      id: "records",
      title: "",
      columns: [],
      rows: [
        { record: "a", dsa: 2 },
        { record: "b", dsa: "Infinity" },
        { record: "c", dsa: 3 },
        { record: "d", dsa: null },
      ],
    };
    expect(rankings(table)[0]?.rows.map(({ record }) => record)).toEqual(["b", "c", "a"]);
  });
  it("say of how many records they list the first", () => {
    const table = {
      id: "records",
      title: "",
      columns: [],
      rows: [
        { record: "a", gini: 0.5, misclassified: true },
        { record: "b", gini: 0.4 },
      ],
    };
    const fact = (id: string, value: number) => ({ id, title: id, value, kind: "count" as const });
    const facts = [fact("records", 10000), fact("misclassified", 1128)];
    expect(rankings(table, facts).map(({ id, total }) => [id, total])).toEqual([
      ["misclassified", 1128],
      ["gini", 10000],
    ]);
    expect(rankings(table).map(({ total }) => total)).toEqual([1, 2]);
  });
  it("show only the misclassified as misclassified", () => {
    const table = document.tables.get("records");
    const first = table === undefined ? undefined : rankings(table)[0];
    expect(first?.rows).toHaveLength(rows("records").filter((row) => row.misclassified === true).length);
  });
});

describe("mutants", () => {
  it("are judged only where they ran", () => {
    expect(tally([{ status: "killed" }, { status: "survived" }, { status: "skipped" }])).toEqual({
      killed: 1,
      judged: 2,
      share: 0.5,
      byClass: false,
    });
    expect(
      tally([
        { status: "killed", score: 0.3 },
        { status: "survived", score: 0 },
      ]).byClass,
    ).toBe(true);
    expect(
      tally([
        { status: "killed", score: 1 },
        { status: "survived", score: 0 },
      ]).byClass,
    ).toBe(false);
    expect(tally([{ status: "skipped", score: 0.25 }, { score: 0.75 }]).share).toBe(0.5);
    expect(tally([{ status: "skipped" }]).share).toBeUndefined();
    expect(
      tally([{ status: "killed", score: 0.3 }, { status: "survived", score: 0 }, { status: "excluded" }])
        .share,
    ).toBe(0.15);
  });
  it("are laid out by operator and layer", () => {
    const table = document.tables.get("mutants");
    const map = table === undefined ? undefined : mutantMap(table);
    expect([map?.operators.length, map?.layers.length]).toEqual([4, 7]);
    expect(map?.at("gauss-noise", "nowhere")).toBeUndefined();
  });
});

describe("lines", () => {
  it("follow an explanation by share, with the mean of its own measure", () => {
    const [deletion, insertion] = explanationCurves(read(explained()));
    expect(deletion?.points.map(({ x, y }) => [x, y])).toEqual([
      [0, 0.98],
      [0.5, 0.2],
      [1, 0.1],
    ]);
    expect([deletion?.name, deletion?.figure]).toEqual(["ig, deletion", "mean 0.2731"]);
    expect(insertion?.figure).toBe("mean 0.7000");
  });

  it("follow a figure over time, and only where there are two values", () => {
    const found = trends(read(followed()));
    expect(found.map(({ name }) => name)).toEqual(["net, cover, nc"]);
    expect(found[0]?.points.map(({ y }) => y)).toEqual([0.35, 0.42, 0.4]);
  });

  it("tell which share stays right within a radius", () => {
    const [proved, attacked] = radii(read(bounded()));
    expect(proved?.points.at(1)).toEqual({ x: 0.021, y: 0.5 });
    expect(proved?.figure).toBe("half of them up to 0.02100");
    expect(attacked?.points.length).toBe(2);
  });
});

describe("figures by class alone", () => {
  const columns = ["criterion", "layer", "class", "measure"].map((id) => ({ id, title: id, kind: "text" }));
  const rows = [
    ["pixel-accuracy", "", "", 0.9],
    ["iou", "", "sky", 0.25],
  ];
  const [document] = parse(
    JSON.stringify({ documents: [{ tables: { criteria: { title: "", columns, rows } } }] }),
  );
  it("have no line of their own, and keep their values", () => {
    if (document === undefined) throw new Error("no document");
    const list = criteria(document);
    expect(list.filter(hasLines).map(({ name }) => name)).toEqual(["pixel-accuracy"]);
    expect(list.find(({ name }) => name === "iou")?.byClass.get("sky")?.value).toBe(0.25);
  });
});
