import { type Pace, paceOf } from "../stores/with/rate-limit.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import { ZarrflowError } from "../util/errors.ts";
import { SHARED, type SharedOptions, withoutShared } from "../util/options.ts";
import { formatBytes, parseBytes } from "../util/units.ts";

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
    throw new ZarrflowError("invalid-option", "what stays open needs a `maxMemory` of its own in a context", {
      hint: "State a part of what the context has: it is taken until `close`.",
    });
  }
  const bytes = parseBytes(maxMemory);
  const lease = memory.acquireNow(bytes);
  if (lease) return () => lease.release();
  throw new ZarrflowError("budget-too-small", "the context has too little memory left", {
    neededBytes: bytes,
    expected: formatBytes(bytes),
    found: formatBytes(memory.limit - memory.leased),
  });
}
