import type { TakenItems } from "../request/labels/found-labels.ts";
import { columns } from "./columns.ts";
import { grouped } from "./numbers.ts";
import { printable } from "./printable.ts";

/** The items that a slice takes along each dimension: `time  2020-01-10T00 .. 2020-01-20T23 (264), indices 216:480`. */
export function takenRows(taken: readonly TakenItems[] = []): string[][] {
  return taken.map((items) => {
    const { dimension, indices, count, shifted = [] } = items;
    const range =
      typeof indices === "number"
        ? `index ${indices}`
        : `indices ${indices.map((end) => end ?? "").join(":")}`;
    const labels = endsOf(items);
    const words = [
      labels === undefined ? `${range} (${grouped(count)})` : `${labels} (${grouped(count)}), ${range}`,
      ...(shifted.length > 0 ? [`labels shifted by ${shifted.join(" and ")}`] : []),
    ];
    return [printable(dimension), printable(words.join(", "))];
  });
}

/** The same as lines of a summary. */
export function takenText(taken: readonly TakenItems[]): string {
  return columns(takenRows(taken), 0);
}

/** The first and the last label, with times only as fine as necessary; undefined without labels. */
function endsOf({ first, last }: TakenItems): string | undefined {
  if (first === undefined || last === undefined) return undefined;
  const ends = first === last ? [first] : [first, last];
  const zeros = [/(?<=T\d\d):00:00$/, /(?<=T\d\d:\d\d):00$/].find((end) =>
    ends.every((one) => end.test(one)),
  );
  return ends.map((one) => (zeros ? one.replace(zeros, "") : one)).join(" .. ");
}
