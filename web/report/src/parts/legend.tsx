import type { Table } from "../model/document";
import { coloursOf } from "../model/rows";
import { STEPS } from "../model/scale";

/** Which colour in the pictures is which class. */
export function ColourLegend({ table }: { table: Table | undefined }) {
  const colours = coloursOf(table);
  if (colours.length === 0) return null;
  return (
    <ul class="colours" aria-label="Colours in the pictures">
      {colours.map(([name, colour]) => (
        <li key={name}>
          <span class="colour" style={{ background: colour }} aria-hidden="true" /> {name}
        </li>
      ))}
    </ul>
  );
}

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
