import { STEPS } from "../model/scale";

/** The colour scale, from nothing to everything. */
export function ScaleLegend({ low = "0 %", high = "100 %" }: { low?: string; high?: string }) {
  return (
    <span class="legend" role="img" aria-label={`Colour scale from ${low} to ${high}`}>
      <span aria-hidden="true">{low}</span>
      <span class="legend-steps" aria-hidden="true">
        {Array.from({ length: STEPS }, (_, i) => (
          <span key={i} style={{ background: `var(--h${i})` }} />
        ))}
      </span>
      <span aria-hidden="true">{high}</span>
    </span>
  );
}
