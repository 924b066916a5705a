import type { Document, Row } from "../model/document";
import { numeric, show } from "../model/format";
import { has, label } from "../model/rows";
import { DataTable } from "../parts/data-table";
import { Behind, Section } from "../parts/section";

/** The strongest word is shaded so far that its letters stay readable. */
const MOST = 48;

/** Special tokens do not say in which direction the text is read. */
const SPECIAL = /^(\[.*\]|<.*>)$/;

/** A word is shaded for what it says of the decision; what speaks against it is underlined as well. */
function Word({ row }: { row: Row }) {
  const share = numeric(row.share) ?? 0;
  const colour = share < 0 ? "var(--h6)" : "var(--fail)";
  return (
    <span
      class={share < 0 ? "word against" : "word"}
      dir={SPECIAL.test(label(row.word)) ? "ltr" : undefined}
      style={{
        background: `color-mix(in srgb, ${colour} ${Math.round(Math.abs(share) * MOST)}%, transparent)`,
      }}
      title={`relevance ${show(row.relevance, "number")}`}
    >
      {label(row.word)}
    </span>
  );
}

/** The words of each text, in the order of the texts. Records may have the same id: words of a text begin anew at its
 * first token. Texts without tokens have none. */
function wordsOfTexts(texts: readonly Row[], words: readonly Row[]): readonly (readonly Row[])[] {
  let next = 0;
  return texts.map((text) => {
    const first = next;
    const goesOn = (word: Row | undefined) =>
      word !== undefined &&
      label(word.record) === label(text.record) &&
      (next === first || (numeric(word.position) ?? 0) > (numeric(words[next - 1]?.position) ?? 0));
    while (label(text.text) !== "" && goesOn(words[next])) next += 1;
    return words.slice(first, next);
  });
}

/** What explained texts decided by: each word shaded for or against, in the direction in which the text is read. */
export function Words({ document }: { document: Document }) {
  const texts = document.tables.get("texts");
  const words = document.tables.get("words");
  if (texts === undefined || words === undefined) return null;
  const ofTexts = wordsOfTexts(texts.rows, words.rows);
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
              {ofTexts[i]?.map((word, w) => (
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
  has(document.tables.get("words"), "record", "position", "word", "relevance", "share");
