import { dates } from "../model/format";

/** A text whose dates do not end lines in their middle. */
export function Dated({ text }: { text: string }) {
  return (
    <>
      {dates(text).map((part, i) =>
        i % 2 === 0 ? (
          part
        ) : (
          <span key={i} class="date">
            {part}
          </span>
        ),
      )}
    </>
  );
}
