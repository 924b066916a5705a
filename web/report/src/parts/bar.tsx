import { percent } from "../model/format";

const width = (fraction: number) => `${Math.min(1, Math.max(0, fraction)) * 100}%`;

/** A share as a bar; `reach` is how far it could go, `attainable` the share of that. */
export function Bar({
  value,
  attainable,
  reach,
  name,
}: {
  value: number | undefined;
  attainable?: number | undefined;
  reach?: number | undefined;
  name: string;
}) {
  if (value === undefined) return <span class="bar bar-none" aria-hidden="true" />;
  const text =
    attainable === undefined
      ? percent(value)
      : `${percent(value)}, of what is attainable ${percent(attainable)}`;
  return (
    <span class="bar" role="img" aria-label={`${name}: ${text}`}>
      {reach !== undefined && <span class="bar-reach" style={{ width: width(reach) }} />}
      {value > 0 && <span class="bar-fill" style={{ width: width(value) }} />}
    </span>
  );
}
