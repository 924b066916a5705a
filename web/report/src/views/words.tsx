import type { Document, Row } from "../model/document";
import { numeric, show } from "../model/format";
import { groups, has, label } from "../model/rows";
import { DataTable } from "../parts/data-table";
import { Behind, Section } from "../parts/section";

/** The strongest word is shaded so far that its letters stay readable. */
const MOST = 48;

/** A word is shaded for what it says of the decision; what speaks against it is underlined as well. */
function Word({ row }: { row: Row }) {
  const share = numeric(row.share) ?? 0;
  const colour = share < 0 ? "var(--h6)" : "var(--fail)";
  return (
    <span
      class={share < 0 ? "word against" : "word"}
      style={{
        background: `color-mix(in srgb, ${colour} ${Math.round(Math.abs(share) * MOST)}%, transparent)`,
      }}
      title={`relevance ${show(row.relevance, "number")}`}
    >
      {label(row.word)}
    </span>
  );
}

/** What explained texts decided by: each word shaded for or against, in the direction in which the text is read. */
export function Words({ document }: { document: Document }) {
  const texts = document.tables.get("texts");
  const words = document.tables.get("words");
  if (texts === undefined || words === undefined) return null;
  const ofRecord = groups(words.rows, (row) => label(row.record));
  return (
    <Section
      id="words"
      title="Which words decide"
      lead="Red words speak for the decision, blue and underlined ones against it; the darker, the nearer to the strongest word of the record."
    >
      <ul class="shaded-texts">
        {texts.rows.map((row, i) => (
          <li key={i}>
            <p class="quiet">
              record {label(row.record)}
              {label(row.class) === "" ? "" : `, named ${label(row.class)}`}
            </p>
            <p dir="auto" class="shaded-text">
              {(ofRecord.get(label(row.record)) ?? []).map((word, w) => (
                <span key={w}>
                  <Word row={word} />{" "}
                </span>
              ))}
            </p>
          </li>
        ))}
      </ul>
      <Behind title="All figures">
        <DataTable table={texts} />
        <DataTable table={words} />
      </Behind>
    </Section>
  );
}

/** True for texts that were explained word by word. */
export const hasShadedWords = (document: Document): boolean =>
  has(document.tables.get("texts"), "record", "text") &&
  has(document.tables.get("words"), "record", "word", "relevance", "share");
