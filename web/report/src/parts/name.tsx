import { Fragment } from "preact";
import { pieces } from "../model/format";

/** A name that breaks between the options in its brackets before it breaks within a word. */
export function Name({ of }: { of: string }) {
  return (
    <>
      {pieces(of).map((piece, i) => (
        <Fragment key={`${i} ${piece}`}>
          {i > 0 && <wbr />}
          {piece}
        </Fragment>
      ))}
    </>
  );
}
