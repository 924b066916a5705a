import type { Cell, Kind } from "./document";

export const NOT_APPLICABLE = "–";

const JOINED = "\u00a0";

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** A cell as a finite number, or undefined. Counts may come as exact text ("12345678901234567890"). */
export function numeric(cell: Cell | undefined): number | undefined {
  if (typeof cell === "number") return Number.isFinite(cell) ? cell : undefined;
  if (typeof cell !== "string" || cell.trim() === "") return undefined;
  const value = Number(cell);
  return Number.isFinite(value) ? value : undefined;
}

/** "99.99 %", which no line end tears: cut, not rounded, so that nothing below all of it shows as 100 %. Works on the shortest decimal form. */
export function percent(fraction: number, decimals = 2): string {
  const negative = fraction < 0;
  const scale = 10 ** decimals;
  const hundred = Math.abs(fraction) * 100 * scale;
  const nearest = Math.round(hundred);
  // 0.29 * 100 is 28.999999999999996: what is a whole step but for the last bits stays that step.
  const whole = Math.abs(hundred - nearest) < 1e-9 * Math.max(1, hundred) ? nearest : Math.floor(hundred);
  const cut = Math.abs(fraction) < 1 ? Math.min(whole, 100 * scale - 1) : whole;
  return `${negative && cut > 0 ? "−" : ""}${(cut / scale).toFixed(decimals)}${JOINED}%`;
}

/** An upper bound: rounded up, so that the text holds as well. */
export function percentAtMost(fraction: number, decimals = 2): string {
  const scale = 10 ** decimals;
  return `${(Math.ceil(fraction * 100 * scale - 1e-9) / scale).toFixed(decimals)}${JOINED}%`;
}

/** Fractions under "to" or a title that ends with "at most" are upper bounds. */
export const isUpperBound = (title: string) => title === "to" || title.endsWith("at most");

/** Digits in groups of three, exact for whole numbers of any length. */
export function count(value: number | string): string {
  const text =
    typeof value === "number" ? (Number.isInteger(value) ? value.toFixed(0) : WHOLE.format(value)) : value;
  return /^-?\d+$/.test(text) ? text.replace(/\B(?=(\d{3})+$)/g, " ").replace("-", "−") : text;
}

/** Four significant digits; very small and very large values in powers of ten. */
export function number(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (Number.isInteger(value) && size < 1e6) return count(value);
  if (size < 1e-3 || size >= 1e6) return value.toExponential(3).replace("e+", "e").replaceAll("-", "−");
  return value.toPrecision(4).replace("-", "−");
}

/** A text for people: percent signs stay with their numbers, and times are "2026-11-29 15:33:41 UTC". */
export function readable(text: string): string {
  return text
    .replace(/(?<=\d) %/g, `${JOINED}%`)
    .replace(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z/g, `$1 $2${JOINED}UTC`);
}

export function show(cell: Cell | undefined, kind: Kind = "text", title = ""): string {
  if (cell === null || cell === undefined || cell === "") return NOT_APPLICABLE;
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  if (typeof cell === "string") return kind === "count" ? count(cell) : readable(cell);
  if (kind === "fraction") return isUpperBound(title) ? percentAtMost(cell) : percent(cell);
  if (kind === "count") return count(cell);
  return number(cell);
}

/** "first_record" for people: "first record". */
export function words(key: string): string {
  return key.replaceAll("_", " ");
}

/** "3,1,4" as numbers; anything else in the list counts as absent. */
export function numbers(cell: Cell | undefined): number[] {
  if (typeof cell === "number") return [cell];
  if (typeof cell !== "string") return [];
  return cell
    .split(",")
    .map((part) => numeric(part))
    .filter((value) => value !== undefined);
}

/** A text at its dates, which are every second part: browsers end lines at their hyphens. */
export function dates(text: string): string[] {
  return text.split(/(\d{4}-\d\d-\d\d)/);
}

/** "pgd[eps=0.1,steps=40]" where a line may end: "pgd", "[eps=0.1,", "steps=40]". */
export function pieces(name: string): string[] {
  return name.split(/(?=\[)|(?<=,)/);
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
