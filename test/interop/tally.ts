/** The formats that cases are counted by, as the tables name them. */
export const FORMATS = {
  v1: "v1",
  v2: "v2",
  ogc: "v2, OGC",
  "v3-draft-2019": "draft of 2019",
  "v3-draft-2020": "draft of 2020",
  v3: "v3",
  zep0007: "v3, ZEP 7",
} as const;

export type Format = keyof typeof FORMATS;

/** What cases try, in the order of the tables; the last are about files that are broken. */
export const FEATURES = [
  "data types",
  "fill values, missing chunks",
  "codecs",
  "strings and objects",
  "sharding",
  "order, rank, edges",
  "chunk keys",
  "other members of documents",
  "groups and names",
  "consolidated metadata",
  "zips, nested directories",
  "conventions of xarray, OME, GDAL",
  "broken metadata",
  "broken chunks",
  "broken stores",
  "hostile keys, bombs",
] as const;

export type Feature = (typeof FEATURES)[number];

/** What of a case tells its place in the tables. */
export interface FeaturedCase {
  readonly id: string;
  readonly tags: readonly string[];
  readonly zarr_format: number | string;
  readonly error?: unknown;
  readonly error_category?: string;
}

/** @throws where a case has no place. */
export function formatOf({ id, zarr_format }: FeaturedCase): Format {
  const version = String(zarr_format);
  if (version === "1") return "v1";
  if (version === "2") return id.startsWith("ogc-") ? "ogc" : "v2";
  if (version === "3") return id.startsWith("zep7-") ? "zep0007" : "v3";
  if (version === "3-draft-2019" || version === "3-draft-2020") return `v${version}`;
  throw new Error(`${id} is of no format`);
}

/** @throws where a case has no place. */
export function featureOf(one: FeaturedCase): Feature {
  if (one.error !== undefined) return brokenFeature(one);
  const { id, tags } = one;
  const found = RULES.find(({ tag, pattern }) => (tag && tags.includes(tag)) || pattern?.test(id));
  if (found) return found.feature;
  throw new Error(`${id} is of no feature`);
}

function brokenFeature({ tags, error, error_category }: FeaturedCase): Feature {
  const { code } = Object(error) as { readonly code?: string };
  if (tags.includes("security") || error_category === "security" || error_category === "resource")
    return "hostile keys, bombs";
  if (error_category === "data" || code === "corrupt-chunk") return "broken chunks";
  if (error_category === "store" || code === "corrupt-store") return "broken stores";
  return "broken metadata";
}

/** The first that a case's tags or its id fit. */
const RULES: readonly { readonly feature: Feature; readonly tag?: string; readonly pattern?: RegExp }[] = [
  { feature: "conventions of xarray, OME, GDAL", pattern: /cf-xarray|ome-ngff|ogc-geo|ogc-pyramid|nczarr/ },
  { feature: "zips, nested directories", tag: "zip", pattern: /nested-directory|group-nested|group-dir/ },
  { feature: "consolidated metadata", tag: "consolidated" },
  { feature: "sharding", pattern: /^v3\/sharding|^zep7-sharded/ },
  { feature: "strings and objects", pattern: /^v2\/object|by-zarr3\/(string|vlen-)|^zep7-/ },
  { feature: "chunk keys", tag: "chunk-key-encoding", pattern: /slash|-dot-|[/-]sep-|cke-|key-multi|nosep/ },
  { feature: "fill values, missing chunks", pattern: /fill|all-missing|seed-missing/ },
  { feature: "data types", pattern: /dtype|big-endian|\/(bool|s7)$|datetime/ },
  {
    feature: "groups and names",
    pattern:
      /hierarchy|names\/|root-(array|group)|at-root|children|both-formats|group-members|name-case|grp-arr/,
  },
  {
    feature: "codecs",
    pattern: /compressor|filter|codec|blosc|zlib|bz2|lzma|gz|[/-]none|delta|compression-null/,
  },
  {
    feature: "order, rank, edges",
    pattern:
      /[/-]\d-?d\b|[/-][CF]-|f-order|order-f|order-F|edges|ndim|layout|chunk|example|seed|empty-dim|zero-length|zarrita/,
  },
  {
    feature: "other members of documents",
    pattern: /attr|no-order|extra-keys|unknown|duplicate-keys|ext-|boot-|lenient/,
  },
];

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
