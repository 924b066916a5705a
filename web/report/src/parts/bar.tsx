import { percent } from "../model/format";

const width = (fraction: number) => `${Math.min(1, Math.max(0, fraction)) * 100}%`;

/** A share as a bar; `attainable`, where it is known, is the outer bar that the share can be judged against. */
export function Bar({
  value,
  attainable,
  name,
}: {
  value: number | undefined;
  attainable?: number | undefined;
  name: string;
}) {
  if (value === undefined) return <span class="bar bar-none" aria-hidden="true" />;
  const text =
    attainable === undefined
      ? percent(value)
      : `${percent(value)}, of what is attainable ${percent(attainable)}`;
  const outer = attainable === undefined || attainable <= 0 ? 1 : Math.min(1, value / attainable);
  return (
    <span class="bar" role="img" aria-label={`${name}: ${text}`}>
      {attainable !== undefined && <span class="bar-reach" style={{ width: width(outer) }} />}
      <span class="bar-fill" style={{ width: width(value) }} />
    </span>
  );
}
