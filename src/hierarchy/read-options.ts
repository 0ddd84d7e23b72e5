import { FORMAT_OPTIONS } from "../meta/format-on-use.ts";
import type { FormatOptions } from "../meta/formats.ts";
import { STORE_ACCESS, type StoreAccess } from "../stores/access.ts";
import { ZarrflowError } from "../util/errors.ts";
import { invalid, type OptionNames, withoutShared } from "../util/options.ts";
import type { Context } from "./context.ts";

/** Maximum number of requests in flight: a fixed number per store, or adapted to the server. */
export type ConcurrencyOption = number | "auto";

/** The strategies that change the grid and that callers can choose. */
export const gridStrategies = ["direct", "staged"] as const;

export type GridStrategy = (typeof gridStrategies)[number];

/** Checks the name of a strategy. @throws `invalid-option` */
export function assertGridStrategy(name: GridStrategy | undefined): void {
  if (name === undefined || gridStrategies.includes(name)) return;
  const expected = `one of ${gridStrategies.join(", ")}`;
  throw invalid("invalid value for the option `strategy`", expected, name);
}

/** Rate limits for reading and writing a store. */
export interface PaceOptions {
  /**
   * Maximum number of requests per second and store. For web servers and buckets every request counts, including pages
   * of listings, parts of uploads and retries; for other stores every call.
   */
  readonly requestsPerSecond?: number | undefined;
  /** Maximum number of bytes per second and store, read and written, as a number or as `10MB`. */
  readonly bytesPerSecond?: number | string | undefined;
}

export const PACE_OPTIONS: OptionNames<PaceOptions> = { requestsPerSecond: true, bytesPerSecond: true };

/** Options for opening a source and limiting its load. */
export interface SourceOptions extends StoreAccess, FormatOptions, PaceOptions {
  /**
   * Maximum number of requests in flight per store, or per server if stores share one. The default `auto` means 16; for
   * servers it adapts from 64 up to 256, as long as a sixteenth of `maxMemory` holds the chunks of those beyond 64. It
   * falls when a server reports too many requests.
   */
  readonly concurrency?: ConcurrencyOption | undefined;
  /** Settings shared by several calls, made by `context`. Options of the call itself override them. */
  readonly context?: Context | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options for reading items. */
export interface ReadOptions extends SourceOptions {
  /** Maximum number of bytes in all buffers together, as a number or as `256MB`; 256 MB by default. */
  readonly maxMemory?: number | string | undefined;
}

/** Options for reading items in C order, in slabs. */
export interface SlabOptions {
  /** Number of threads that decode and encode, including the calling one; by default one per core. */
  readonly threads?: number | undefined;
  /**
   * Place for the scratch objects of the `staged` strategy: a folder, or the URL of any store that supports writing and
   * listing. By default the system's temporary folder.
   */
  readonly scratch?: string | undefined;
  /** Strategy for arrays whose grid changes; by default the one predicted to be faster. */
  readonly strategy?: GridStrategy | undefined;
}

/** Options for opening a source; without effect on a source that is open. */
export const OPENING_OPTIONS = { ...STORE_ACCESS, ...FORMAT_OPTIONS };

export const SOURCE_OPTIONS: OptionNames<SourceOptions> = {
  ...OPENING_OPTIONS,
  ...PACE_OPTIONS,
  concurrency: true,
  context: true,
  signal: true,
};

export const READ_OPTIONS: OptionNames<ReadOptions> = { ...SOURCE_OPTIONS, maxMemory: true };

export const SLAB_OPTIONS: OptionNames<SlabOptions> = { threads: true, scratch: true, strategy: true };

/** @throws `invalid-option` if options for opening are given with an open node. */
export function assertNotOpening(options: object, what: "array" | "node"): void {
  const given = Object.entries(withoutShared(options)).find(
    ([name, value]) => Object.hasOwn(OPENING_OPTIONS, name) && value !== undefined,
  );
  if (given === undefined) return;
  const [name] = given;
  throw new ZarrflowError(
    "invalid-option",
    `\`${name}\` has no effect on ${what === "array" ? "an array" : "a node"} that is open`,
    {
      hint: `Give \`${name}\` where it is opened.`,
    },
  );
}
