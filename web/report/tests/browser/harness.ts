import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";

const TEMPLATE = new URL("../../dist/report.html", import.meta.url);
const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export const browserPath = process.env.ASSAY_BROWSER ?? PROGRAMS.find((path) => existsSync(path));

/** Fills the page as the program does. */
export function fill(documents: readonly unknown[]): string {
  const json = JSON.stringify({ documents }).replaceAll("<", "\\u003c");
  return readFileSync(TEMPLATE, "utf8").replace(">PLACEHOLDER<", () => `>${json}<`);
}

/** Writes a filled page into a new folder; gives its file: address. */
export function write(documents: readonly unknown[]): string {
  const file = join(mkdtempSync(join(tmpdir(), "assay-report-")), "report.html");
  writeFileSync(file, fill(documents));
  return pathToFileURL(file).href;
}

export const launch = (): Promise<Browser> =>
  chromium.launch({
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    args: ["--no-sandbox", "--disable-gpu"],
  });

export interface Look {
  readonly width: number;
  readonly scheme?: "light" | "dark";
}

export interface Visit {
  readonly page: Page;
  /** Script errors, policy violations and requests for anything but the page itself. */
  readonly faults: string[];
}

/** A page of its own that notes everything that goes wrong in it. */
export async function visit(
  browser: Browser,
  address: string,
  { width, scheme = "light" }: Look,
): Promise<Visit> {
  const page = await browser.newPage({
    viewport: { width, height: width < 600 ? 844 : 900 },
    colorScheme: scheme,
  });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") && !request.url().startsWith("data:"))
      faults.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await page.waitForSelector("h1");
  return { page, faults };
}

/** Gives the seconds of a processor that the page has worked from now on, whatever else the machine does. */
export async function stopwatch(page: Page): Promise<() => Promise<number>> {
  const tools = await page.context().newCDPSession(page);
  await tools.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await tools.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
  };
}

/** Keeps a picture for people, where ASSAY_REPORT_SHOTS names a folder. */
export async function shoot(page: Page, name: string, full = true): Promise<void> {
  const folder = process.env.ASSAY_REPORT_SHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.waitForTimeout(250);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: full });
}
