import type { Changes } from "../flows/request/changes.ts";
import type { PlanOptions, RunOptions } from "../flows/request/flow.ts";
import { optionCodecs } from "../meta/codec-option.ts";
import type { FormatOptions } from "../meta/formats.ts";
import type { StoreAccess } from "../stores/access.ts";
import { parseBytes } from "../util/byte-size.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { Options, Values } from "./command-line.ts";

/** Flags of every command. */
export const outputOptions = {
  quiet: { type: "boolean", summary: "no progress and no summary" },
  json: { type: "boolean", summary: "JSON on standard output; errors as JSON on standard error" },
  help: { type: "boolean", summary: "this text" },
} as const satisfies Options;

/** How sources that others keep or wrote are read. */
export const accessOptions = {
  anonymous: { type: "boolean", summary: "read public data in S3 without credentials" },
  "missing-403": {
    type: "boolean",
    summary: "take 403 of a server for a missing key, where listing is not allowed",
  },
  "v2-separator": {
    type: "string",
    value: ".|/",
    choices: [".", "/"],
    summary:
      "what joins the keys of chunks in Zarr v2 where an array does not say so; by default it is looked for",
  },
  "max-metadata": {
    type: "string",
    value: "SIZE",
    summary: "size that a metadata document may have, such as 128MB; 32MiB by default",
  },
} as const satisfies Options;

/** Flags of commands that read arrays. */
export const readingOptions = {
  ...accessOptions,
  "max-mem": {
    type: "string",
    value: "SIZE",
    summary: "memory that all buffers together may take, such as 64MB; 256MB by default",
  },
  io: { type: "string", value: "N", summary: "requests in flight, for each store; 16 by default" },
} as const satisfies Options;

/** How gently stores are treated. */
export const rateOptions = {
  tps: { type: "string", value: "N", summary: "requests a second at most, for each store" },
  bwlimit: {
    type: "string",
    value: "SIZE",
    summary: "bytes a second at most, read from each store and written to it, such as 10MB",
  },
} as const satisfies Options;

/** What to do about a target that is there already. */
export const existingOptions = {
  "if-exists": {
    type: "string",
    value: "error|skip|replace",
    choices: ["error", "skip", "replace"],
    summary:
      "what to do when there is something at the target: stop, leave what is there and add what is not, or put the new in its place; error by default",
  },
} as const satisfies Options;

export const updateOption = {
  update: {
    type: "boolean",
    summary: "write only keys that differ to a target that is there, and delete those that SRC lacks",
  },
} as const satisfies Options;

export const filterOptions = {
  include: {
    type: "string",
    multiple: true,
    value: "GLOB",
    summary: "take only arrays, groups and other keys of these names or paths; may be repeated",
  },
  exclude: {
    type: "string",
    multiple: true,
    value: "GLOB",
    summary: "leave arrays, groups and other keys of these names or paths out; may be repeated",
  },
} as const satisfies Options;

export const dryRunOption = {
  "dry-run": { type: "boolean", summary: "print the plan and its cost, and do nothing" },
} as const satisfies Options;

/** Flags about how the grid of chunks is left: for target chunks, and for items in C order. */
export const strategyOptions = {
  strategy: {
    type: "string",
    value: "direct|staged",
    choices: ["direct", "staged"],
    summary:
      "how items get to other chunks, or in C order: window by window, or by way of scratch objects; the faster one by default",
  },
  scratch: {
    type: "string",
    value: "PLACE",
    summary: "a folder or URL for scratch objects; the system's folder for temporary files by default",
  },
} as const satisfies Options;

/** Flags about the tasks in which arrays are written. */
export const taskOptions = {
  threads: {
    type: "string",
    value: "N",
    summary: "threads that decode and encode; as many as there are cores by default",
  },
  ...strategyOptions,
} as const satisfies Options;

/** Flags of commands that write arrays. */
export const writingOptions = {
  ...readingOptions,
  ...taskOptions,
  ...rateOptions,
  ...existingOptions,
  verify: { type: "boolean", summary: "read every key back and compare it before the target appears" },
  "write-empty": { type: "boolean", summary: "store chunks that hold nothing but the fill value too" },
  "break-lock": {
    type: "boolean",
    summary: "take a target that is locked, as you know that the run that locked it is dead",
  },
  ...dryRunOption,
  report: {
    type: "string",
    value: "FILE.html",
    summary:
      "write a page about the run: plan, figures, memory over time, chunks before and after; replaces FILE.html",
  },
} as const satisfies Options;

export const codecOption = {
  codec: {
    type: "string",
    value: "CODEC",
    suggestions: ["none", ...optionCodecs()],
    summary:
      "the compressor to write with: zstd:5, blosc:lz4:5:shuffle, none or JSON; the source's by default",
  },
} as const satisfies Options;

export const chunksOption = {
  chunks: {
    type: "string",
    multiple: true,
    value: "SIZES",
    summary:
      "time=744,lat=11 or 744,11,7; -1 is a whole dimension; t2m:time=-1 means one array; may be repeated",
  },
} as const satisfies Options;

export const shardsOption = {
  shards: {
    type: "string",
    multiple: true,
    value: "SIZES",
    summary:
      "put chunks together in shards of so many items, given as chunks are; none: each chunk on its own",
  },
} as const satisfies Options;

export const formatOptions = {
  to: {
    type: "string",
    value: "v1|v2|v3-draft-2019|v3",
    choices: ["v1", "v2", "v3-draft-2019", "v3"],
    summary: "the format to write; the source's by default",
  },
  "allow-loss": {
    type: "string",
    multiple: true,
    value: "PTR,...",
    summary:
      "JSON pointers of what may be left out where the format cannot hold it, as its refusal names them; may be repeated",
  },
} as const satisfies Options;

/** Flags of commands that may change arrays on the way. */
export const changingOptions = {
  ...chunksOption,
  ...shardsOption,
  ...codecOption,
  ...formatOptions,
} as const;

/** What the flags of changing mean to a flow. */
export function changesOf({
  chunks,
  shards,
  codec,
  to,
  "allow-loss": losses,
}: Values<typeof changingOptions>): Changes {
  return {
    mustChange: true,
    ...(chunks && { chunks }),
    ...(shards && { shards }),
    ...(codec !== undefined && { codec }),
    ...(to && { to }),
    ...(losses && { allowLoss: losses.flatMap((pointers) => pointers.split(/,(?=\/)/)) }),
  };
}

/** What the flags of access mean to a flow. */
export function accessOf({
  anonymous,
  "missing-403": missing403,
  "v2-separator": separator,
  "max-metadata": maxMetadata,
}: Values<typeof accessOptions>): StoreAccess & FormatOptions {
  return {
    ...(anonymous && { anonymous }),
    ...(missing403 && { missing403 }),
    ...(separator && { v2: { separator } }),
    ...(maxMetadata !== undefined && { maxMetadata: parseBytes(maxMetadata) }),
  };
}

/** What is to become of a target that is there. @throws `invalid-option` */
function existingOf({
  "if-exists": ifExists,
  update,
}: Values<typeof existingOptions & typeof updateOption>): Pick<PlanOptions, "ifExists"> {
  if (!update) return ifExists ? { ifExists } : {};
  if (ifExists === undefined) return { ifExists: "update" };
  throw new ZarrflowError("invalid-option", "--update and --if-exists contradict each other");
}

/** What the flags of reading mean to a flow. @throws `invalid-option` */
export function planOptions(
  values: Values<
    typeof readingOptions &
      typeof rateOptions &
      typeof taskOptions &
      typeof existingOptions &
      typeof updateOption
  >,
  signal: AbortSignal,
): PlanOptions {
  const { "max-mem": maxMemory, io, tps, bwlimit, threads, strategy, scratch } = values;
  return {
    ...accessOf(values),
    ...existingOf(values),
    ...(maxMemory !== undefined && { maxMemory }),
    ...(io !== undefined && { io: wholeNumber("io", io) }),
    ...(tps !== undefined && { requestsPerSecond: wholeNumber("tps", tps) }),
    ...(bwlimit !== undefined && { bytesPerSecond: bwlimit }),
    ...(threads !== undefined && { threads: wholeNumber("threads", threads) }),
    ...(strategy && { strategy }),
    ...(scratch !== undefined && { scratch }),
    signal,
  };
}

/** What the flags of writing mean to a flow. @throws `invalid-option` */
export function runOptions(
  values: Values<typeof writingOptions & typeof updateOption>,
  signal: AbortSignal,
): RunOptions {
  const { verify = false, "write-empty": writeEmpty = false, "break-lock": breakLock = false } = values;
  return { ...planOptions(values, signal), verify, writeEmpty, breakLock };
}

function wholeNumber(name: string, text: string): number {
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new ZarrflowError("invalid-option", `\`${text}\` in --${name} is no whole number of 1 or more`);
}
