import { readFileSync } from "node:fs";
import { gridStrategies } from "../hierarchy/read-options.ts";
import { optionCodecs } from "../meta/codec-option.ts";
import type { StoreAccess } from "../stores/access.ts";
import { fileError } from "../stores/files/file-error.ts";
import { environmentAccess, headersIn } from "../stores/http/headers.ts";
import type { Effect, FlagValues, Options } from "./parse-arguments.ts";
import { valueOptions } from "./value-options.ts";

/** The same flags, with a rule for when they have an effect. */
export function withEffect<O extends Options>(options: O, effect: Effect): O {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, { ...option, effect }]),
  ) as O;
}

/** A dry run accepts the flags of the run that it previews. It warns about those that matter only to a real run. */
export const PREVIEWED = { without: ["dry-run"], warns: true } as const;

/** A hint for a format under another name, or one that cannot be written. */
function formatMeant(value: string, formats: readonly string[]): string | undefined {
  const ome = /^(?:ome-?)?(?:zarr|ngff)?-?v?(0\.\d)(?:\.\d)?$/i.exec(value)?.[1];
  if (ome !== undefined) return `OME-Zarr ${ome} is --to ${Number(ome) < 0.5 ? "v2" : "v3"}.`;
  const zarr = /^(?:zarr)?[-_ ]?v?([123])(?:\.\d+)*$/i.exec(value)?.[1];
  if (zarr !== undefined) return formats.includes(`v${zarr}`) ? `Did you mean \`v${zarr}\`?` : undefined;
  if (/ome|ngff/i.test(value)) return "OME-Zarr 0.4 is --to v2, and OME-Zarr 0.5 is --to v3.";
  if (
    /^(?:n5|netcdf4?|nc4?|hdf5?|h5|grib2?|tiff?|cog|icechunk|kerchunk|csv|npy|npz|parquet|arrow|json)$/i.test(
      value,
    )
  )
    return "--to takes only Zarr formats. `zarrflow slice --format` writes other files and tables.";
  return undefined;
}

/** Flags of every command. */
export const outputOptions = {
  quiet: { type: "boolean", summary: "hide progress and summary; warnings are still shown" },
  "no-warnings": { type: "boolean", summary: "hide warnings" },
  json: { type: "boolean", summary: "print JSON on standard output, and errors as JSON on standard error" },
  help: { type: "boolean", summary: "show this help" },
} as const satisfies Options;

/** Flags for access to sources. */
export const accessOptions = {
  anonymous: { type: "boolean", summary: "read public data in S3 without credentials" },
  "missing-403": {
    type: "boolean",
    summary: "treat status 403 as a missing key, for buckets that do not allow listing",
  },
  header: {
    type: "string",
    multiple: true,
    value: "HEADER",
    summary:
      "add a header to each request to a web server, such as 'Authorization: Bearer ...'; @FILE reads one header per line from a file, which hides them from other users of the machine; ZARRFLOW_HEADERS by default, one per line; may be repeated",
  },
  attempts: {
    type: "string",
    value: "N",
    summary:
      "maximum number of attempts per request if it fails temporarily; by default 9, or fewer for a server that has not answered at all for a minute",
  },
  timeout: {
    type: "string",
    value: "TIME",
    summary: "how long a server may stay silent, such as 10s or 2min; 30s by default",
  },
  "v2-separator": {
    type: "string",
    value: ".|/",
    choices: [".", "/"],
    summary: "separator of Zarr v2 chunk keys if the metadata omits it; detected by default",
  },
  "max-metadata": {
    type: "string",
    value: "SIZE",
    summary: "maximum size of a metadata document, such as 128MB; 32MiB by default",
  },
} as const satisfies Options;

/** Flags of commands that read arrays. */
export const readingOptions = {
  ...accessOptions,
  "max-mem": {
    type: "string",
    value: "SIZE",
    summary: "maximum total memory of all buffers, such as 64MB; 256MB by default",
  },
  io: {
    type: "string",
    value: "N|auto",
    suggestions: ["auto"],
    summary:
      "maximum number of concurrent requests to each store; by default (auto) adapted to each server, up to 256, and 16 for other stores",
  },
} as const satisfies Options;

/** Flags that limit the load on stores. */
export const rateOptions = {
  "max-requests-per-second": {
    type: "string",
    value: "N",
    alias: "tps",
    summary: "maximum number of requests per second to each store (--tps)",
  },
  bwlimit: {
    type: "string",
    value: "SIZE",
    summary: "maximum number of bytes per second read from and written to each store, such as 10MB",
  },
} as const satisfies Options;

/** Assumptions of plans about stores. */
export const profileOption = {
  "store-profile": {
    type: "string",
    multiple: true,
    value: "PROFILE",
    summary:
      "latency and bandwidth of network stores, for the plan and its predicted time: 30ms, 100MB/s or 30ms,100MB/s; source=30ms sets it for one of source, target and scratch; measured by default; may be repeated",
  },
} as const satisfies Options;

/** Flags for a target that exists. */
export const existingOptions = {
  "if-exists": {
    type: "string",
    value: "error|skip|replace",
    choices: ["error", "skip", "replace"],
    effect: { without: ["update"] },
    summary:
      "what to do if the target exists: fail (default), keep what exists and add what is missing, or replace it",
  },
} as const satisfies Options;

export const updateOption = {
  update: {
    type: "boolean",
    summary: "update an existing target: write only keys that differ, and delete keys that SRC lacks",
  },
} as const satisfies Options;

export const filterOptions = {
  include: {
    type: "string",
    multiple: true,
    value: "GLOB",
    summary:
      "take only arrays, groups and other keys with these names or paths, and the companions of such arrays; may be repeated",
  },
  exclude: {
    type: "string",
    multiple: true,
    value: "GLOB",
    summary: "skip arrays, groups and other keys with these names or paths; may be repeated",
  },
  alone: {
    type: "boolean",
    summary:
      "take arrays without their companions: coordinates, bounds, grid mappings and other arrays that their attributes name",
  },
} as const satisfies Options;

export const writeEmptyChunksOption = {
  "write-empty-chunks": {
    type: "boolean",
    effect: PREVIEWED,
    summary: "also store chunks that hold only the fill value",
  },
} as const satisfies Options;

export const dryRunOption = {
  "dry-run": { type: "boolean", summary: "print the plan and its cost, without writing anything" },
} as const satisfies Options;

/** Flags for the strategy to change the grid of chunks, or to read items in C order. */
export const strategyOptions = {
  strategy: {
    type: "string",
    value: gridStrategies.join("|"),
    choices: gridStrategies,
    summary:
      "how to rechunk or to read in C order: direct (window by window) or staged (through scratch objects); by default the one predicted to be faster",
  },
  scratch: {
    type: "string",
    value: "PLACE",
    summary: "folder or URL for scratch objects; the system's temporary folder by default",
  },
} as const satisfies Options;

/** Flags for the tasks that write arrays. */
export const taskOptions = {
  threads: {
    type: "string",
    value: "N",
    summary: "number of threads that decode and encode; the number of CPU cores by default",
  },
  ...strategyOptions,
} as const satisfies Options;

/** Flags of commands that write arrays. */
export const writingOptions = {
  ...readingOptions,
  ...taskOptions,
  ...rateOptions,
  ...profileOption,
  ...existingOptions,
  verify: {
    type: "string",
    bare: "written",
    value: "written|values",
    choices: ["written", "values"],
    effect: PREVIEWED,
    summary:
      "before publishing the target, read back every key and check its size and checksum; =values also compares the values of all arrays with the source",
  },
  resume: {
    type: "boolean",
    summary: "continue the unfinished run of the same command, or else start a new one",
  },
  "verify-source": {
    type: "boolean",
    effect: PREVIEWED,
    summary:
      "check at the end that no key of the source has changed, by size and time or ETag; with --resume, since the unfinished run began",
  },
  fsync: {
    type: "boolean",
    effect: PREVIEWED,
    summary: "flush everything to disk before publishing, so that it survives a power failure; slower",
  },
  ...writeEmptyChunksOption,
  "break-lock": {
    type: "boolean",
    summary: "ignore the lock of another run at the target; use only if that run is dead",
  },
  ...dryRunOption,
  explain: {
    type: "boolean",
    effect: { with: ["dry-run"] },
    summary: "with --dry-run: show why other strategies were not chosen and what they would cost",
  },
  trace: {
    type: "string",
    value: "FILE",
    effect: { without: ["dry-run"] },
    summary:
      "write events of the run (tasks, keys written, retries) to FILE, one JSON object per line; replaces FILE",
  },
  report: {
    type: "string",
    value: "FILE.html",
    summary:
      "write an HTML report, even if the run fails: plan, figures, memory over time, chunks before and after; replaces FILE.html",
  },
} as const satisfies Options;

export const codecOption = {
  codec: {
    type: "string",
    value: "CODEC",
    suggestions: ["none", ...optionCodecs()],
    summary:
      "compressor of the target: zstd:5, blosc:lz4:5:shuffle, none or JSON; the source's by default. A list (bitround:10,zstd:5) states all filters, compressors and checksums, in encoding order",
  },
} as const satisfies Options;

export const chunksOption = {
  chunks: {
    type: "string",
    multiple: true,
    value: "SIZES",
    suggestions: ["auto"],
    summary:
      "chunk shape: time=744,lat=11 or 744,11,7; -1 is the whole dimension, time=auto the size that gives chunks of 16MB; or a chunk size for all arrays: auto (16MB) or 100MB; t2m:time=-1 sets it for one array, s*:time=-1 for all with such names; may be repeated",
  },
} as const satisfies Options;

export const shardsOption = {
  shards: {
    type: "string",
    multiple: true,
    value: "SIZES",
    summary: "shard shape, written as in --chunks; auto is 256MB, none means no shards",
  },
  match: {
    type: "string",
    value: "all|any",
    choices: ["all", "any"],
    summary:
      "which arrays of a group get the --chunks and --shards given by dimension name: those with all the named dimensions (default), or with any",
  },
} as const satisfies Options;

export const formatOptions = {
  to: {
    type: "string",
    value: "v1|v2|v3-draft-2019|v3",
    choices: ["v1", "v2", "v3-draft-2019", "v3"],
    aliases: { 1: "v1", 2: "v2", 3: "v3" },
    hint: formatMeant,
    summary: "format to write; the source's by default",
  },
  "allow-loss": {
    type: "string",
    multiple: true,
    value: "PTR,...",
    summary:
      "JSON pointers of metadata that may be dropped because the target format cannot represent it; the error lists them; may be repeated",
  },
  "keep-formats": {
    type: "boolean",
    summary:
      "if nodes have documents of both v2 and v3, write both; by default the second ones are dropped, with a warning, if any chunk changes",
  },
} as const satisfies Options;

/** Flags of commands that can change arrays. */
export const changingOptions = {
  ...chunksOption,
  ...shardsOption,
  ...codecOption,
  ...valueOptions,
  ...formatOptions,
} as const;

/** Flags for access to the source of a plan, since a plan contains no credentials. */
export const planAccessOptions = {
  header: accessOptions.header,
  query: {
    type: "string",
    value: "QUERY",
    summary:
      "query of the source's URL, such as token=..., which plans do not contain; @FILE reads it from a file; ZARRFLOW_QUERY by default",
  },
  "trust-map": {
    type: "boolean",
    summary: "allow the plan to load modules that compute values; use only with plans that you trust",
  },
} as const satisfies Options;

/** Converts the flags for access to the source of a plan to options. @throws `invalid-option` */
export function planAccessOf({
  header,
  query,
  "trust-map": trustMap,
}: FlagValues<typeof planAccessOptions>): Pick<StoreAccess, "headers" | "query"> & { trustMap?: boolean } {
  return {
    ...(trustMap && { trustMap }),
    ...headersOf(header),
    ...(query && { query: textOf(query).trim() }),
  };
}

/** The headers from `--header`, or by default from ZARRFLOW_HEADERS. @throws `invalid-option` */
export function headersOf(given: readonly string[] | undefined): Pick<StoreAccess, "headers"> {
  const headers = given ? headersIn(given.map(textOf).join("\n")) : environmentAccess().headers;
  return headers ? { headers } : {};
}

/** The value of a flag, or the text of the file that it names with an `@`. */
function textOf(value: string): string {
  if (!value.startsWith("@")) return value;
  try {
    return readFileSync(value.slice(1), "utf8");
  } catch (error) {
    throw fileError(error, { store: `file ${value.slice(1)}` });
  }
}
