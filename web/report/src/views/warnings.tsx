import type { Warning } from "../model/document";
import { plural } from "../model/format";

/** What makes the figures doubtful, before the figures. */
export function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  if (warnings.length === 0) return null;
  return (
    <section class="warnings" aria-labelledby="warnings-title" id="warnings">
      <h2 id="warnings-title" tabIndex={-1}>
        {plural(warnings.length, "warning")}: read the figures with care
      </h2>
      <ul>
        {warnings.map(({ id, text, cause }, i) => (
          <li key={i}>
            <code>{id}</code> {/[.!?]$/.test(text) ? text : `${text}.`}
            {cause !== "" && <span class="quiet"> Likely cause: {cause}.</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
