import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  attacked,
  audited,
  bounded,
  characterised,
  compared,
  decided,
  dropped,
  explained,
  explored,
  followed,
  hostile,
  labelledPixels,
  large,
  lenet,
  mutants,
  ranking,
  retrained,
  unknown,
  worded,
} from "../fixtures/documents";
import { fill, launch, shoot, stopwatch, visit, write } from "./harness";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const tool = (window as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }).axe;
    return (await tool.run()).violations;
  });
  return found.map(
    ({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0]?.html} ${nodes[0]?.failureSummary ?? ""}`,
  );
}

const overflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

let browser: Browser;
let small: string;
beforeAll(async () => {
  browser = await launch();
  small = write([lenet()]);
});
afterAll(async () => {
  await browser?.close();
});

// What commands have, by the name of the picture that people look at.
const FOUND = [
  ["relevance", ranking],
  ["words", worded],
  ["verdicts", audited],
  ["mutants", mutants],
  ["attacks", attacked],
  ["labelled pixels", labelledPixels],
  ["figures", compared],
  ["drops", dropped],
  ["explanations", explained],
  ["radii", bounded],
  ["trends", followed],
  ["characteristics", characterised],
  ["exploration", explored],
  ["retraining", retrained],
] as const;

const PLACES = [
  { name: "document", hash: "" },
  { name: "layer", hash: "#/1/layer/fc1" },
  { name: "neuron", hash: "#/1/layer/fc1/neuron/3" },
  { name: "combination", hash: "" },
];

describe.each([1440, 390])("at %i pixels", (width) => {
  describe.each(["light", "dark"] as const)("%s", (scheme) => {
    it.each(PLACES)("shows the $name, accessible and without overflow", async ({ name, hash }) => {
      const combination = `#/1/combination/fc1/6/${lenet().tables.uncovered.rows.find(({ layer }) => layer === "fc1")?.combination}`;
      const { page, faults } = await visit(browser, small + (name === "combination" ? combination : hash), {
        width,
        scheme,
      });
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      await shoot(page, `${name}-${width}-${scheme}`);
      expect(await violations(page)).toEqual([]);
      expect(faults).toEqual([]);
      await page.close();
    });
  });

  describe.each(["light", "dark"] as const)("in %s colours", (scheme) => {
    it.each(FOUND)("shows what a command found: %s", async (name, made) => {
      const document = made();
      const { page, faults } = await visit(browser, write([document]), { width, scheme });
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect(await page.locator("#warnings li").count()).toBe(document.warnings.length);
      expect(await page.locator("#network").count()).toBe(0);
      await shoot(page, `${name}-${width}-${scheme}`);
      expect(await violations(page)).toEqual([]);
      expect(faults).toEqual([]);
      await page.close();
    });
  });

  it("shows several documents", async () => {
    const { page, faults } = await visit(browser, write([lenet(), unknown(), { ...large(), gates: [] }]), {
      width,
    });
    expect(await page.locator(".documents > li").count()).toBe(3);
    await shoot(page, `overview-${width}`);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await violations(page)).toEqual([]);
    await page.locator(".switcher select").selectOption("1");
    await page.waitForFunction(() => document.title.startsWith("lenet5 learned"));
    expect(await page.locator(".table-title", { hasText: "Epochs" }).count()).toBe(1);
    await shoot(page, `unknown-${width}`);
    expect(await violations(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.close();
  });

  it("shows what a pack decides before what it measured", async () => {
    const { page, faults } = await visit(browser, write([decided(), lenet(), unknown()]), { width });
    const place = async (selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? -1;
    expect(await place("#gates")).toBeGreaterThan(0);
    expect(await place("#gates")).toBeLessThan(await place(".documents"));
    expect(await page.locator("#gates .gate-failed").innerText()).toContain("REQ-2: kmnc=1");
    expect(await page.locator("main .facts").innerText()).toContain("Ada Lovelace, safety manager");
    await shoot(page, `decided-${width}`);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await violations(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.close();
  });

  it("shows hostile texts as texts", async () => {
    const { page, faults } = await visit(browser, write([hostile()]), { width });
    expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
    expect(await page.locator("h1").innerText()).toContain("<img src=x onerror=");
    expect(await page.locator("main img").count()).toBe(0);
    const layer = await page.locator(".strip a").first().getAttribute("href");
    await page.goto(`${page.url().split("#")[0]}${layer}`);
    await page.waitForSelector(".crumbs");
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(faults).toEqual([]);
    await page.close();
  });
});

describe("the pages of searches", () => {
  it("show pictures before tables, and no figure twice", async () => {
    const { page } = await visit(browser, write([explored()]), { width: 1440 });
    expect(await page.locator("main > section").evaluateAll((all) => all.map(({ id }) => id))).toEqual([
      "networks",
      "pictures",
    ]);
    await page.goto(write([retrained()]));
    expect(await page.locator("main > section").evaluateAll((all) => all.map(({ id }) => id))).toEqual([
      "retraining",
    ]);
    expect(await page.locator("#retraining svg").count()).toBe(2);
    await page.close();
  });
});

describe("pictures of labelled pixels", () => {
  it("have a legend of their colours, also on paper", async () => {
    const { page, faults } = await visit(browser, write([labelledPixels()]), { width: 390 });
    for (const media of ["screen", "print"] as const) {
      await page.emulateMedia({ media });
      const legend = page.locator("#pictures").getByRole("list", { name: "Colours in the pictures" });
      expect((await legend.locator("li").allInnerTexts()).map((text) => text.trim())).toEqual([
        "road",
        "sky <b>",
      ]);
      const colour = (at: number) =>
        legend
          .locator(".colour")
          .nth(at)
          .evaluate((one) => getComputedStyle(one).backgroundColor);
      expect(await colour(0)).toBe("rgb(255, 0, 0)");
      expect(await colour(1)).toBe("rgb(0, 74, 255)");
    }
    expect(await page.locator("#tables").count()).toBe(0);
    expect(faults).toEqual([]);
    await page.close();
  });
});

describe("shaded words", () => {
  it("are those of their text, where records have the same id and texts no words", async () => {
    const texts = [["good", "film"], ["bad"], [], ["dull"]].map((words, i) => ({
      record: i < 3 ? "seven" : "eight",
      class: "positive",
      words,
    }));
    const { page } = await visit(browser, write([worded(texts)]), { width: 1440 });
    const shown = await page.locator(".shaded-text").allInnerTexts();
    expect(shown.map((text) => text.trim())).toEqual(["good film", "bad", "", "dull"]);
    await page.close();
  });

  it("are read in the direction of the text, whatever special tokens stand around it", async () => {
    const texts = [
      { record: "0", class: "positive", words: ["[CLS]", "مرحبا", "[SEP]"] },
      { record: "1", class: "positive", words: ["<s>", "hello", "</s>"] },
    ];
    const { page } = await visit(browser, write([worded(texts)]), { width: 1440 });
    const directions = await page
      .locator(".shaded-text")
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).direction));
    expect(directions).toEqual(["rtl", "ltr"]);
    await page.close();
  });
});

describe("figures by class", () => {
  it("have a colour scale only where they are shares", async () => {
    const columns = ["criterion", "class", "coverage", "measure"].map((id) => ({
      id,
      title: id,
      kind: "text",
    }));
    const scales = async (row: readonly (string | number | null)[]) => {
      const tables = { criteria: { title: "", columns, rows: [row] } };
      const { page } = await visit(browser, write([{ ...unknown(), tables }]), { width: 1440 });
      expect(await page.locator("#criteria .heat td").count()).toBe(1);
      const count = await page.locator("#criteria .legend").count();
      await page.close();
      return count;
    };
    expect(await scales(["accuracy", "sky", 0.25, null])).toBe(1);
    expect(await scales(["iou", "sky", null, 0.25])).toBe(0);
  });
});

describe("warnings", () => {
  it("are sentences that end before the likely cause", async () => {
    const document = lenet();
    const warning = {
      id: "chance",
      text: "the accuracy is that of guessing",
      cause: "labels in another order",
    };
    const { page } = await visit(browser, write([{ ...document, warnings: [warning] }]), { width: 1440 });
    expect(await page.locator("#warnings li").innerText()).toBe(
      "chance the accuracy is that of guessing. Likely cause: labels in another order.",
    );
    await page.close();
  });
});

describe("the verdict", () => {
  it("says in words which gates failed, before those that passed", async () => {
    const { page } = await visit(browser, small, { width: 1440 });
    expect(await page.locator("#verdict-title").innerText()).toBe("Failed: 2 of 4 gates do not hold");
    expect(await page.locator(".verdict > .gates .gate-word").allInnerTexts()).toEqual(["Failed", "Failed"]);
    expect(await page.locator(".verdict details summary").innerText()).toBe("2 gates passed");
    await page.close();
  });

  it("is calm where all gates hold", async () => {
    const document = lenet();
    const { page } = await visit(
      browser,
      write([{ ...document, gates: document.gates.filter(({ passed }) => passed) }]),
      { width: 1440 },
    );
    expect(await page.locator("#verdict-title").innerText()).toBe("Passed: all 2 gates hold");
    await shoot(page, "passed-1440", false);
    await page.close();
  });
});

describe("drill-down", () => {
  it("leads from the strip to a layer, by keyboard to a neuron, and back", async () => {
    const { page, faults } = await visit(browser, small, { width: 1440 });
    await page.locator(".strip a", { hasText: "fc1" }).click();
    await page.waitForSelector("h1:has-text('fc1')");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    const grid = page.locator(".grid canvas");
    await grid.focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
    expect(await grid.getAttribute("aria-valuetext")).toMatch(/^neuron 1, /);
    await page.keyboard.press("Enter");
    await page.waitForSelector("h1:has-text('Neuron 1')");
    expect(page.url()).toContain("#/1/layer/fc1/neuron/1");
    await page.goBack();
    await page.waitForSelector("h1:has-text('fc1')");
    expect(faults).toEqual([]);
    await page.close();
  });

  it("draws a neuron's training and test activations with its boundaries", async () => {
    const { page } = await visit(browser, `${small}#/1/layer/fc1/neuron/3`, { width: 1440 });
    const chart = page.locator("#activations svg").first();
    await chart.waitFor();
    expect(await chart.getAttribute("aria-label")).toMatch(/1 500 training and 500 test values over 32 bins/);
    expect(await chart.locator("g[data-mark='rect'] rect").count()).toBe(32);
    expect(await chart.locator("g[data-mark='rule'] line").count()).toBeGreaterThanOrEqual(2);
    await page.close();
  });

  it("leads from a table to a combination", async () => {
    const { page } = await visit(browser, small, { width: 1440 });
    await page
      .locator("#importance .table", { hasText: "Uncovered" })
      .locator("td a[href*=combination]")
      .first()
      .click();
    await page.waitForSelector("h1:has-text('Combination')");
    expect(await page.locator(".parts > li").count()).toBe(6);
    expect(await page.locator(".cluster-chosen").count()).toBe(6);
    await page.close();
  });

  it("keeps a link to a section", async () => {
    const { page } = await visit(browser, `${small}#/1/section/growth`, { width: 1440 });
    await page.waitForFunction(() => document.activeElement?.id === "growth-title");
    expect(await page.locator("#growth .multiple svg[role=img]").count()).toBe(8);
    await page.close();
  });
});

describe("tables", () => {
  it("sort, filter and page", async () => {
    const { page } = await visit(browser, `${small}#/1/layer/fc1`, { width: 1440 });
    const table = page.locator("#neurons .table");
    const first = () => table.locator("tbody tr").first().locator("td").first().innerText();
    expect(await first()).toBe("0");
    await table.getByRole("button", { name: "neuron" }).click();
    expect(await first()).toBe("119");
    expect(await table.locator("th").first().getAttribute("aria-sort")).toBe("descending");
    await table.getByRole("button", { name: "Next" }).click();
    expect(await first()).toBe("94");
    await table.getByRole("searchbox").fill("dead");
    const shown = await table.locator("tbody tr").count();
    expect(shown).toBeGreaterThan(0);
    expect(await table.locator("tbody tr", { hasText: "dead" }).count()).toBe(shown);
    await page.close();
  });
});

describe("records", () => {
  it("show the misclassified first, then by surprise", async () => {
    const { page } = await visit(browser, small, { width: 1440 });
    const cards = page.locator(".record");
    expect(await cards.count()).toBe(24);
    expect(await page.locator(".record-wrong").count()).toBe(24);
    await page.getByRole("button", { name: "Most surprising by DSA" }).click();
    const values = (await page.locator(".record-measure").allInnerTexts()).map((text) =>
      Number(text.replace("dsa ", "")),
    );
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(await page.locator(".record img").count()).toBe(24);
    await page.close();
  });
});

describe("mutants", () => {
  it("shows survivors with their nearest records, and all by status", async () => {
    const { page } = await visit(browser, write([mutants()]), { width: 1440 });
    expect(await page.locator(".survivor").count()).toBe(2);
    expect(await page.locator(".survivor").first().innerText()).toContain("nearest record: 7");
    await page.getByRole("button", { name: "killed (1)" }).click();
    const rows = page.locator("#mutants .table").first().locator("tbody tr");
    expect(await rows.count()).toBe(1);
    expect(await rows.first().innerText()).toContain("killed");
    await page.close();
  });
});

describe("criteria", () => {
  it("shows layers where they do not add up, and measures by their value", async () => {
    const document = lenet();
    const columns = document.tables.criteria.columns;
    const row = (criterion: string, layer: string, coverage: number | null, measure: number | null) => ({
      ...Object.fromEntries(columns.map(({ id }) => [id, null])),
      criterion,
      layer,
      coverage,
      measure,
      covered: coverage === null ? null : 1,
      coverable: coverage === null ? null : 4,
    });
    const rows = [
      row("idc[m=6]", "fc1", 0.25, null),
      row("idc[m=6]", "fc2", 0.5, null),
      row("nlc", "all", null, 12.5),
    ];
    const table = {
      ...document.tables.criteria,
      columns: [...columns, { id: "measure", title: "measure", kind: "number" }],
      rows,
    };
    const { page } = await visit(browser, write([{ ...document, tables: { criteria: table } }]), {
      width: 1440,
    });
    expect(await page.locator(".family h3").allInnerTexts()).toEqual(["idc", "nlc"]);
    expect(await page.locator(".criterion h4").allInnerTexts()).toEqual(["m=6, fc1", "m=6, fc2", "in all"]);
    expect(await page.locator(".criterion-share").allInnerTexts()).toEqual([
      "25.00\u00a0%",
      "50.00\u00a0%",
      "12.50",
    ]);
    await page.close();
  });
});

describe("a large network", () => {
  it("is under 3 MB with its histograms left to few neurons and quick with 20,000 neurons", async () => {
    const document = large();
    expect(document.tables.neurons.rows.length).toBe(20000);
    const compact = {
      ...document,
      tables: Object.fromEntries(
        Object.entries(document.tables).map(([id, table]) => [
          id,
          {
            ...table,
            rows: table.rows.map((row) =>
              table.columns.map((c) => (row as Record<string, unknown>)[c.id] ?? null),
            ),
          },
        ]),
      ),
    };
    expect(fill([compact]).length).toBeLessThan(3 * 1024 * 1024);
    const { page, faults } = await visit(browser, write([compact]), { width: 1440 });
    const seconds = await stopwatch(page);
    await page.reload();
    await page.waitForSelector("h1");
    expect(await page.locator(".strip a").count()).toBe(104);
    expect(await seconds()).toBeLessThan(3);
    await shoot(page, "large-1440");
    await page.locator(".strip a").nth(70).click();
    await page.waitForSelector(".grid canvas");
    expect(await seconds()).toBeLessThan(5);
    await shoot(page, "large-layer-1440");
    expect(faults).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${page.url().split("#")[0]}#/1`);
    await page.waitForSelector(".strip a");
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await shoot(page, "large-390");
    await page.close();
  });
});

describe("theme and print", () => {
  it("follows the system until the reader chooses", async () => {
    const { page } = await visit(browser, small, { width: 1440, scheme: "dark" });
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    await page.getByRole("button", { name: "Light colours" }).click();
    expect(await background()).toBe("rgb(255, 255, 255)");
    expect(dark).not.toBe("rgb(255, 255, 255)");
    await page.close();
  });

  it("prints in light colours, without controls", async () => {
    const { page } = await visit(browser, small, { width: 1440, scheme: "dark" });
    await page.waitForSelector("#definitions");
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
      "rgb(255, 255, 255)",
    );
    expect(await page.locator(".top").isVisible()).toBe(false);
    const folded = () =>
      page.locator(".verdict details:not([open]), #definitions details:not([open])").count();
    expect(await folded()).toBe(2);
    await page.evaluate(() => {
      window.addEventListener("beforeprint", () => {
        window.document.title = String(
          window.document.querySelectorAll(".verdict details[open], #definitions details[open]").length,
        );
      });
    });
    const pdf = await page.pdf({ format: "A4" });
    expect([await page.title(), await folded()]).toEqual(["2", 2]);
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
    if (process.env.ASSAY_REPORT_SHOTS !== undefined)
      (await import("node:fs")).writeFileSync(`${process.env.ASSAY_REPORT_SHOTS}/print.pdf`, pdf);
    await page.close();
  });
});

const longTable = (rows: number) => ({
  title: "Records",
  columns: [{ id: "record", title: "record", kind: "count" }],
  rows: Array.from({ length: rows }, (_, record) => ({ record })),
});

describe("two networks that disagree", () => {
  it("are not told apart by how often they do", async () => {
    const found = explored();
    const rows = found.tables.networks.rows.map((row) => ({ ...row, odd: 0 }));
    const tables = { ...found.tables, networks: { ...found.tables.networks, rows } };
    const { page } = await visit(browser, write([{ ...found, tables }]), { width: 1100 });
    const said = (await page.locator("#networks").textContent()) ?? "";
    expect(said).toContain("Of two networks each disagrees with the other");
    expect(said).not.toContain("disagrees with most in");
    await page.close();
  });
  it("are not said to disagree where nothing was found", async () => {
    const { page } = await visit(browser, write([{ ...explored(), facts: { findings: 0 } }]), {
      width: 1100,
    });
    expect(await page.locator("#networks").textContent()).toContain("They disagree on no record");
    await page.close();
  });
});

describe("what is not shown at once", () => {
  it("is told on paper, and by an edge that fades", async () => {
    const { page } = await visit(browser, write([mutants()]), { width: 390 });
    const wide = page
      .locator(".scroll")
      .filter({ has: page.locator(".heat") })
      .first();
    await page.waitForFunction(() => document.querySelector(".goes-on") !== null);
    await wide.evaluate((element) => element.scrollTo({ left: element.scrollWidth }));
    await expect.poll(() => wide.getAttribute("class")).toBe("scroll");
    await page.close();
    const paper = await visit(browser, write([{ ...unknown(), tables: { list: longTable(60) } }]), {
      width: 1100,
    });
    const told = paper.page.locator(".on-paper").first();
    expect(await told.isVisible()).toBe(false);
    await paper.page.emulateMedia({ media: "print" });
    expect(await told.isVisible()).toBe(true);
    expect(await told.textContent()).toBe("25 of 60 rows");
    await paper.page.close();
  });
});

describe("dates", () => {
  it("do not end lines in their middle", async () => {
    const found = {
      ...followed(),
      headline: "3 results from 2026-11-30T07:11:53Z to 2026-11-30T07:11:54Z; worse than the time before",
      facts: { first_result: "2026-11-30T07:11:53Z", last_result: "2026-11-30T07:11:54Z" },
    };
    const { page } = await visit(browser, write([found]), { width: 390 });
    const dates = page.locator("h1 .date, .facts .date");
    expect(await dates.allTextContents()).toEqual(Array(4).fill("2026-11-30"));
    const lines = await dates.evaluateAll((all) => all.map((date) => date.getClientRects().length));
    expect(lines).toEqual([1, 1, 1, 1]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await page.close();
  });
});

describe("a page without results", () => {
  it.each([
    ["the empty template", (page: string) => page, "no results were written"],
    ["broken JSON", (page: string) => page.replace(">PLACEHOLDER<", ">{<"), "not valid JSON"],
    ["no documents", (page: string) => page.replace(">PLACEHOLDER<", '>{"documents":[]}<'), "no documents"],
    [
      "a foreign document",
      (page: string) => page.replace(">PLACEHOLDER<", '>{"documents":[{"schema":"other"}]}<'),
      "not 'assay/result'",
    ],
  ])("says so: %s", async (_, change, message) => {
    const { writeFileSync, mkdtempSync } = await import("node:fs");
    const template = readFileSync(new URL("../../dist/report.html", import.meta.url), "utf8");
    const file = `${mkdtempSync("/tmp/assay-report-")}/page.html`;
    writeFileSync(file, change(template));
    const { page, faults } = await visit(browser, `file://${file}`, { width: 390 });
    expect(await page.locator("main").innerText()).toContain(message);
    expect(faults).toEqual([]);
    await page.close();
  });
});
