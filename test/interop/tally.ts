import {
  FEATURES,
  type Feature,
  type FeaturedCase,
  type Format,
  featureOf,
  formatOf,
} from "./case-features.ts";

/** How many of a kind are right, and how many there are. */
export interface Count {
  readonly right: number;
  readonly all: number;
}

/** Counts by feature and format; pairs without cases are left out. */
export type Tally = Readonly<Partial<Record<Feature, Readonly<Partial<Record<Format, Count>>>>>>;

/** Counts cases in the order of the tables. */
export function tallyOf<C extends FeaturedCase>(cases: readonly C[], isRight: (one: C) => boolean): Tally {
  const countOf = (some: readonly C[]): Count => ({ right: some.filter(isRight).length, all: some.length });
  const rows = FEATURES.map((feature) => {
    const tried = cases.filter((one) => featureOf(one) === feature);
    const formats = [...new Set(tried.map(formatOf))];
    const cell = (format: Format) => countOf(tried.filter((one) => formatOf(one) === format));
    return [feature, Object.fromEntries(formats.map((format) => [format, cell(format)]))] as const;
  });
  return Object.fromEntries(rows.filter(([, row]) => Object.keys(row).length > 0));
}

/** As JSON, to be compared with what is approved. */
export function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
