import type { Changes, PlanOptions } from "../flows/request/flow-options.ts";
import type { ReadOptions } from "../hierarchy/read-options.ts";
import type { CodecText } from "../meta/codec-option.ts";
import type { FormatOptions } from "../meta/formats.ts";
import type { KeyFilter } from "../plan/key-filter.ts";
import type { RunOptions } from "../run/run-options.ts";
import type { StoreAccess } from "../stores/access.ts";
import type { AccessRetry } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import { parseBytes, parseDuration } from "../util/units.ts";
import type { FlagValues } from "./parse-arguments.ts";
import {
  type accessOptions,
  type changingOptions,
  type existingOptions,
  type filterOptions,
  headersOf,
  type profileOption,
  type rateOptions,
  type readingOptions,
  type taskOptions,
  type updateOption,
  type writeEmptyChunksOption,
  type writingOptions,
} from "./shared-options.ts";
import { valueChangesOf } from "./value-options.ts";

/** Converts the flags that change arrays to options of a flow. */
export function changesOf({
  chunks,
  shards,
  match,
  codec,
  to,
  "allow-loss": losses,
  "keep-formats": keepFormats,
  ...values
}: FlagValues<typeof changingOptions>): Changes {
  return {
    mustChange: true,
    ...valueChangesOf(values),
    ...(chunks && { chunks }),
    ...(shards && { shards }),
    ...(match && { match }),
    ...(codec !== undefined && { codec: codec as CodecText }),
    ...(to && { to }),
    ...(keepFormats && { keepFormats }),
    ...(losses && { allowLoss: losses.flatMap((pointers) => pointers.split(/,(?=\/)/)) }),
  };
}

/** As `changesOf`, for a copy. If the codec or the shards change, coordinates stay as they are, as in a rechunk. */
export function copyChangesOf(values: Parameters<typeof changesOf>[0]): Changes {
  const changes = changesOf(values);
  const isRechunk = changes.codec !== undefined || changes.shards !== undefined;
  return isRechunk && changes.chunks === undefined ? { ...changes, chunks: {} } : changes;
}

/** Converts the filter flags to options of a flow. */
export function filterOf({ include, exclude, alone }: FlagValues<typeof filterOptions>): KeyFilter {
  return { ...(include && { include }), ...(exclude && { exclude }), ...(alone && { companions: false }) };
}

/** Converts the access flags to options of a flow. */
export function storeAccessOf({
  anonymous,
  "missing-403": missing403,
  header,
  attempts,
  timeout,
  "v2-separator": separator,
  "max-metadata": maxMetadata,
}: FlagValues<typeof accessOptions>): StoreAccess & FormatOptions {
  return {
    ...(anonymous && { anonymous }),
    ...(missing403 && { missing403 }),
    ...headersOf(header),
    ...((attempts ?? timeout) !== undefined && { retry: retryOf(attempts, timeout) }),
    ...(separator && { v2: { separator } }),
    ...(maxMetadata !== undefined && { maxMetadata: sizeOf("max-metadata", maxMetadata) }),
  };
}

function retryOf(attempts: string | undefined, timeout: string | undefined): AccessRetry {
  return {
    ...(attempts !== undefined && { attempts: countOf("attempts", attempts) }),
    ...(timeout !== undefined && { timeout: parseDuration(timeout) / 1000 }),
  };
}

/** Converts the flags for reading arrays to options of a flow. @throws `invalid-option` */
export function readingOf(
  values: FlagValues<typeof readingOptions>,
): StoreAccess & FormatOptions & Pick<ReadOptions, "maxMemory" | "concurrency"> {
  const { "max-mem": maxMemory, io } = values;
  return {
    ...storeAccessOf(values),
    ...(maxMemory !== undefined && { maxMemory: sizeOf("max-mem", maxMemory) }),
    ...(io !== undefined && { concurrency: io === "auto" ? io : countOf("io", io) }),
  };
}

/** The option for a target that exists. */
function existingOf({
  "if-exists": ifExists,
  update,
}: FlagValues<typeof existingOptions & typeof updateOption>): Pick<PlanOptions, "ifExists"> {
  if (update) return { ifExists: "update" };
  return ifExists ? { ifExists } : {};
}

/** Converts the flags that affect the plan to options of a flow. @throws `invalid-option` */
export function planOptions(
  values: FlagValues<
    typeof readingOptions &
      typeof rateOptions &
      typeof profileOption &
      typeof taskOptions &
      typeof existingOptions &
      typeof updateOption &
      typeof writeEmptyChunksOption
  >,
  signal: AbortSignal,
): ReadOptions & Omit<PlanOptions, keyof Changes | keyof KeyFilter> {
  const { "max-requests-per-second": rate, bwlimit, threads, strategy, scratch } = values;
  return {
    ...readingOf(values),
    ...existingOf(values),
    ...(rate !== undefined && { requestsPerSecond: countOf("max-requests-per-second", rate) }),
    ...(bwlimit !== undefined && { bytesPerSecond: rateOf("bwlimit", bwlimit) }),
    ...(threads !== undefined && { threads: countOf("threads", threads) }),
    ...(values["store-profile"] && { storeProfile: values["store-profile"] }),
    ...(strategy && { strategy }),
    ...(scratch !== undefined && { scratch }),
    ...(values["write-empty-chunks"] && { writeEmptyChunks: true }),
    signal,
  };
}

/** Converts the flags that affect the run to options of a flow. @throws `invalid-option` */
export function runOptions(values: FlagValues<typeof writingOptions>, signal: AbortSignal): RunOptions {
  const { verify = false, resume = false, fsync = false, "verify-source": verifySource = false } = values;
  const { "break-lock": breakLock = false } = values;
  return { verify, resume, verifySource, fsync, breakLock, signal };
}

/** The smallest number that is taken for bytes without a unit. A smaller one probably means megabytes. */
const FEWEST_BARE = 100_000;

/** Parses a size into bytes. @throws `invalid-option`, also for a small number without a unit */
export function sizeOf(name: string, text: string): number {
  const bytes = parseBytes(text);
  if (bytes >= 1 && (bytes >= FEWEST_BARE || !/^[\d.\s]+$/.test(text))) return bytes;
  const meant =
    Number(text) > 0 ? `Did you mean ${text}MB? For bytes write ${text}B.` : "Write a size such as 64MB.";
  throw new ZarrflowError("invalid-option", `\`${text}\` in --${name} is only ${bytes} bytes`, {
    hint: meant,
  });
}

/** Parses a rate into bytes per second: a size, or a size with `/s`. @throws `invalid-option` */
export function rateOf(name: string, text: string): number {
  return sizeOf(name, text.replace(/\/s$/, ""));
}

export function countOf(name: string, text: string): number {
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new ZarrflowError("invalid-option", `\`${text}\` in --${name} is not a whole number of 1 or more`, {
    hint: "Use a number such as 8, or omit the flag.",
  });
}

/** Parses `--port`. @throws `invalid-option` */
export function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
  throw new ZarrflowError("invalid-option", `\`${text}\` in --port is not a port number`, {
    hint: "Use a number from 1 to 65535, or 0 for any free port.",
  });
}
