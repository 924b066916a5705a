/** Steps of the sequential colour scale in style.css (--h0 to --h10, with --t0 to --t10 for text upon them). */
export const STEPS = 11;

/** Step of a share in [0, 1]. The first step is exactly nothing and the last exactly everything. */
export function step(fraction: number): number {
  if (fraction <= 0) return 0;
  if (fraction >= 1) return STEPS - 1;
  return 1 + Math.floor(fraction * (STEPS - 2));
}

/** Colours for a cell with text; undefined is "not applicable". */
export function shade(fraction: number | undefined): Record<string, string> {
  if (fraction === undefined) return {};
  const at = step(fraction);
  return { background: `var(--h${at})`, color: `var(--t${at})` };
}
