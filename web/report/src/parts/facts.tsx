import { Dated } from "./dated";

export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** Single figures side by side. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  if (facts.length === 0) return null;
  return (
    <dl class="facts">
      {facts.map(({ name, value }, i) => (
        <div key={i}>
          <dt>{name}</dt>
          <dd>
            <Dated text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
