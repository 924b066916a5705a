import type { Row } from "./document";
import { numbers, numeric } from "./format";

export interface Bin {
  readonly from: number;
  readonly to: number;
  /** Shares of all training and of all test activations of the neuron. */
  readonly train: number;
  readonly test: number;
}

export interface Histogram {
  readonly bins: readonly Bin[];
  readonly boundaries: readonly number[];
  readonly train: number;
  readonly test: number;
}

/** Equal bins over [low, high]; undefined where the row has no usable counts. */
export function histogram(row: Row): Histogram | undefined {
  const [low, high] = [numeric(row.low), numeric(row.high)];
  const train = numbers(row.train);
  const test = numbers(row.test);
  const count = Math.max(train.length, test.length);
  if (low === undefined || high === undefined || count === 0) return undefined;
  const [a, b] = high > low ? [low, high] : [low - 0.5, low + 0.5];
  const sum = (values: readonly number[]) => values.reduce((x, y) => x + y, 0);
  const [trainSum, testSum] = [sum(train), sum(test)];
  const at = (i: number) => a + ((b - a) * i) / count;
  const share = (value: number | undefined, total: number) => (total > 0 ? (value ?? 0) / total : 0);
  return {
    bins: Array.from({ length: count }, (_, i) => ({
      from: at(i),
      to: at(i + 1),
      train: share(train[i], trainSum),
      test: share(test[i], testSum),
    })),
    boundaries: numbers(row.boundaries),
    train: trainSum,
    test: testSum,
  };
}

/** Points of the outline of the test shares, for a line that steps from bin to bin. */
export function outline(bins: readonly Bin[]): { x: number; y: number }[] {
  const points = bins.flatMap(({ from, to, test }) => [
    { x: from, y: test },
    { x: to, y: test },
  ]);
  const [first, last] = [bins[0], bins.at(-1)];
  if (first === undefined || last === undefined) return points;
  return [{ x: first.from, y: 0 }, ...points, { x: last.to, y: 0 }];
}
