import type { Changes } from "../flows/changes.ts";
import type { PlanOptions, RunOptions } from "../flows/flow.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { Options, Values } from "./command-line.ts";

/** Flags of every command. */
export const tellingOptions = {
  quiet: { type: "boolean", summary: "no progress and no summary" },
  json: { type: "boolean", summary: "JSON on standard output; errors as JSON on standard error" },
  help: { type: "boolean", summary: "this text" },
} as const satisfies Options;

/** Flags of commands that read arrays. */
export const readingOptions = {
  "max-mem": {
    type: "string",
    value: "SIZE",
    summary: "memory that all buffers together may take, such as 64MB; 256MB by default",
  },
  io: { type: "string", value: "N", summary: "requests in flight, for each store; 16 by default" },
} as const satisfies Options;

/** What to do about a target that is there already. */
export const existingOptions = {
  "if-exists": {
    type: "string",
    value: "error|skip|replace",
    choices: ["error", "skip", "replace"],
    summary:
      "what to do when there is something at the target: stop, leave it and be done, or put the new in its place; error by default",
  },
} as const satisfies Options;

export const dryRunOption = {
  "dry-run": { type: "boolean", summary: "print the plan and its cost, and do nothing" },
} as const satisfies Options;

/** Flags of commands that write arrays. */
export const writingOptions = {
  ...readingOptions,
  ...existingOptions,
  verify: { type: "boolean", summary: "read every key back and compare it before the target appears" },
  "write-empty": { type: "boolean", summary: "store chunks that hold nothing but the fill value too" },
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

export const dialectOptions = {
  to: {
    type: "string",
    value: "v1|v2|v3-draft-2019|v3",
    choices: ["v1", "v2", "v3-draft-2019", "v3"],
    summary: "the dialect to write; the source's by default",
  },
  "allow-loss": {
    type: "string",
    multiple: true,
    value: "PTR,...",
    summary:
      "JSON pointers of what may be left out where the dialect cannot hold it, as its refusal names them; may be repeated",
  },
} as const satisfies Options;

/** Flags of commands that may change arrays on the way. */
export const changingOptions = {
  ...chunksOption,
  ...shardsOption,
  ...codecOption,
  ...dialectOptions,
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
    ...(chunks && { chunks }),
    ...(shards && { shards }),
    ...(codec !== undefined && { codec }),
    ...(to && { to }),
    ...(losses && { allowLoss: losses.flatMap((pointers) => pointers.split(/,(?=\/)/)) }),
  };
}

/** What the flags of reading mean to a flow. @throws `invalid-option` */
export function planOptions(values: Values<typeof readingOptions>, signal: AbortSignal): PlanOptions {
  const { "max-mem": maxMemory, io } = values;
  return {
    ...(maxMemory !== undefined && { maxMemory }),
    ...(io !== undefined && { io: wholeNumber("io", io) }),
    signal,
  };
}

/** What the flags of writing mean to a flow. @throws `invalid-option` */
export function runOptions(values: Values<typeof writingOptions>, signal: AbortSignal): RunOptions {
  const { "if-exists": ifExists, verify = false, "write-empty": writeEmpty = false } = values;
  return { ...planOptions(values, signal), ...(ifExists && { ifExists }), verify, writeEmpty };
}

function wholeNumber(name: string, text: string): number {
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new ZarrflowError("invalid-option", `\`${text}\` in --${name} is no whole number of 1 or more`);
}
