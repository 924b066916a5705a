import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("../../src/style.css", import.meta.url), "utf8");
const [light = "", dark = ""] = [
  /:root, \[data-theme="light"\] \{([\s\S]*?)\}/,
  /\[data-theme="dark"\] \{([\s\S]*?)\}/,
].map((part) => part.exec(css)?.[1] ?? "");

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [x = 0, y = 0] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

describe.each([
  ["light", light, 1],
  ["dark", dark, -1],
] as const)("%s colours", (_, block, sign) => {
  const colour = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(block)?.[1] ?? "missing";
  const steps = Array.from({ length: 11 }, (_, i) => i);
  it("carry readable text on every step", () => {
    for (const i of steps)
      expect(contrast(colour(`h${i}`), colour(`t${i}`)), `step ${i}`).toBeGreaterThanOrEqual(4.5);
  });
  it("go one way in lightness, so that they are told apart without hue", () => {
    for (const i of steps.slice(1))
      expect(sign * (luminance(colour(`h${i - 1}`)) - luminance(colour(`h${i}`)))).toBeGreaterThan(0);
  });
  it.each(["ink", "quiet", "accent", "fail", "pass"])("are readable on the page: %s", (name) => {
    expect(contrast(colour(name), colour("page"))).toBeGreaterThanOrEqual(4.5);
  });
});
