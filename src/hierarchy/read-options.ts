import { FORMAT_OPTIONS } from "../meta/detect.ts";
import type { FormatOptions } from "../meta/formats.ts";
import { STORE_ACCESS, type StoreAccess } from "../stores/access.ts";
import { type Pace, paceOf } from "../stores/with/rate-limit.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import { ZarrflowError } from "../util/errors.ts";
import {
  invalidOption,
  type OptionNames,
  SHARED,
  type SharedOptions,
  withoutShared,
} from "../util/options.ts";
import { formatBytes, parseBytes } from "../util/units.ts";

/** Maximum number of requests in flight: a fixed number per store, or adapted to the server. */
export type ConcurrencyOption = number | "auto";

/** The strategies that change the grid and that callers can choose. */
export const gridStrategies = ["direct", "staged"] as const;

export type GridStrategy = (typeof gridStrategies)[number];

/** Checks the name of a strategy. @throws `invalid-option` */
export function assertGridStrategy(name: GridStrategy | undefined): void {
  if (name === undefined || gridStrategies.includes(name)) return;
  const expected = `one of ${gridStrategies.join(", ")}`;
  throw invalidOption("invalid value for the option `strategy`", expected, name);
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
    `\`${name}\` has no effect on ${what === "array" ? "an array" : "a node"} that is already open`,
    {
      hint: `Pass \`${name}\` when opening it.`,
    },
  );
}

/** Limits that apply to all calls of a context together. */
export interface ContextLimits {
  readonly maxMemory?: number | string | undefined;
  readonly requestsPerSecond?: number | undefined;
  readonly bytesPerSecond?: number | string | undefined;
}

/** Returns the memory budget that the calls of a context share; undefined if it has none. */
export let memoryOf: (context: Context | undefined) => ByteBudget | undefined;

/**
 * Returns the rate limit that the calls of a context share for a server or another place; undefined without one.
 */
export let paceFor: (
  context: Context,
  name: "requestsPerSecond" | "bytesPerSecond",
  place: string,
) => Pace | undefined;

/** Settings and limits shared by several calls. Made by `context` and passed to each call as its option `context`. */
export class Context implements SharedOptions {
  readonly [SHARED]: Readonly<Record<string, unknown>>;
  readonly #memory: ByteBudget | undefined;
  readonly #rates: Readonly<Record<"requestsPerSecond" | "bytesPerSecond", number | undefined>>;
  readonly #paces = new Map<string, Pace | undefined>();

  static {
    memoryOf = (context) => (context === undefined ? undefined : context.#memory);
    paceFor = (context, name, place) => {
      const key = `${name} ${place}`;
      const pace = context.#paces.get(key) ?? paceOf(context.#rates[name]);
      context.#paces.set(key, pace);
      return pace;
    };
  }

  constructor(options: ContextLimits & object) {
    const { maxMemory, requestsPerSecond, bytesPerSecond } = options;
    this[SHARED] = { ...options };
    this.#memory = maxMemory === undefined ? undefined : new ByteBudget(parseBytes(maxMemory));
    this.#rates = {
      requestsPerSecond,
      bytesPerSecond: bytesPerSecond === undefined ? undefined : parseBytes(bytesPerSecond),
    };
  }

  /** Number of bytes that its calls hold now. */
  get memoryInUse(): number {
    return this.#memory?.leased ?? 0;
  }

  /** Maximum number of bytes that its calls held at one time. */
  get peakMemory(): number {
    return this.#memory?.peak ?? 0;
  }
}

interface WithinContext {
  readonly context?: Context | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Waits until the context has this many bytes available. @returns a function that releases them @throws `aborted` */
export async function leaseMemory({ context, signal }: WithinContext, bytes: number): Promise<() => void> {
  const memory = memoryOf(context);
  if (memory === undefined) return () => {};
  const lease = await memory.acquire(Math.min(bytes, memory.limit), signal);
  return () => lease.release();
}

/**
 * Leases memory for something that stays open. Does not wait, since other calls may hold the memory for long.
 *
 * @throws `invalid-option` without `maxMemory`; `budget-too-small` if the context has less memory left.
 */
export function leaseWhileOpen(
  options: WithinContext & { readonly maxMemory?: number | string | undefined },
): () => void {
  const memory = memoryOf(options.context);
  if (memory === undefined) return () => {};
  const { maxMemory } = withoutShared(options);
  if (maxMemory === undefined) {
    throw new ZarrflowError(
      "invalid-option",
      "objects that stay open need their own `maxMemory` in a context",
      {
        hint: "Set `maxMemory` to a part of the context's memory; it stays reserved until `close`.",
      },
    );
  }
  const bytes = parseBytes(maxMemory);
  const lease = memory.acquireNow(bytes);
  if (lease) return () => lease.release();
  throw new ZarrflowError("budget-too-small", "the context does not have enough memory left", {
    neededBytes: bytes,
    expected: formatBytes(bytes),
    found: formatBytes(memory.limit - memory.leased),
  });
}
