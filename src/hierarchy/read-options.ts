import { FORMAT_OPTIONS } from "../meta/format-on-use.ts";
import type { FormatOptions } from "../meta/formats.ts";
import { STORE_ACCESS, type StoreAccess } from "../stores/access.ts";
import { invalid, type OptionNames } from "../util/check-options.ts";
import { ZarrflowError } from "../util/errors.ts";
import { withoutShared } from "../util/shared-options.ts";
import type { Context } from "./context.ts";

/** Requests in flight: so many for each store, or as many as are found to be of use. */
export type ConcurrencyOption = number | "auto";

/** The strategies that change the grid, which may be asked for. */
export const gridStrategies = ["direct", "staged"] as const;

export type GridStrategy = (typeof gridStrategies)[number];

/** Checks that a strategy may be asked for. @throws `invalid-option` */
export function assertGridStrategy(name: GridStrategy | undefined): void {
  if (name === undefined || gridStrategies.includes(name)) return;
  const expected = `one of ${gridStrategies.join(", ")}`;
  throw invalid("invalid value for the option `strategy`", expected, name);
}

/** How fast a store is read, and written. */
export interface PaceOptions {
  /**
   * Requests that begin in a second, at most, for each store: of web servers and buckets each that is sent, also pages
   * of a listing, parts of an upload and repetitions; of other stores each call.
   */
  readonly requestsPerSecond?: number | undefined;
  /** Bytes that are read from each store and written to it in a second, at most, as a number or as `10MB`. */
  readonly bytesPerSecond?: number | string | undefined;
}

export const PACE_OPTIONS: OptionNames<PaceOptions> = { requestsPerSecond: true, bytesPerSecond: true };

/** How a source is opened, and how gently it is asked. */
export interface SourceOptions extends StoreAccess, FormatOptions, PaceOptions {
  /**
   * Requests in flight, for each store, or for each server where stores are on one. By default, `auto`, 16; of a server as
   * many as are found to be of use, 64 at first and 256 at most, as far as a sixteenth of `maxMemory` holds the chunks of
   * those beyond 64. Fewer where a server says that there are too many.
   */
  readonly concurrency?: ConcurrencyOption | undefined;
  /** What several calls share, as `context` makes it: its options count where the call does not state them itself. */
  readonly context?: Context | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How items are read. */
export interface ReadOptions extends SourceOptions {
  /** Bytes that all buffers together may take, as a number or as `256MB`; 256 MB by default. */
  readonly maxMemory?: number | string | undefined;
}

/** How items are read in C order, in slabs. */
export interface SlabOptions {
  /** Threads that decode and encode, the one that calls among them; as many as there are cores by default. */
  readonly threads?: number | undefined;
  /**
   * Where the scratch objects of the `staged` strategy go: a folder, or the URL of any store that is written and listed; the system's
   * folder for temporary files by default.
   */
  readonly scratch?: string | undefined;
  /** How arrays are made whose grid changes; whichever is predicted to take less time by default. */
  readonly strategy?: GridStrategy | undefined;
}

/** Options that say how a source is opened. They mean nothing for one that is open. */
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

/** @throws `invalid-option` for options of opening, where the node is open. */
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
