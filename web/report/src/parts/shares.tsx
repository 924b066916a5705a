import { percent } from "../model/format";
import { Bar } from "./bar";
import { Name } from "./name";

export interface Share {
  readonly name: string;
  readonly share: number | undefined;
  readonly counts: string;
  readonly text: string;
}

/** A bar for each share, with what it is a share of. */
export function Shares({ items }: { items: readonly Share[] }) {
  return (
    <ul class="criteria">
      {items.map(({ name, share, counts, text }, i) => (
        <li key={i} class="criterion">
          <h3>
            <Name of={name} />
          </h3>
          <Bar value={share} name={name} />
          <span class="criterion-share">{share === undefined ? "–" : percent(share)}</span>
          <span class="criterion-counts quiet">{counts}</span>
          {text !== "" && <p class="criterion-text quiet">{text}</p>}
        </li>
      ))}
    </ul>
  );
}
