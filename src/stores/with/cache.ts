import { throwIfAborted } from "../../util/abort.ts";
import { type ByteRange, resolveRange } from "../../util/byte-range.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { assertKnown, type OptionNames } from "../../util/options.ts";
import { parseBytes } from "../../util/units.ts";
import { type GetOptions, isWritable, type Store } from "../store.ts";
import { assertMissing, assertVersion } from "../version.ts";
import { type StoreOperation, type Wrapped, wrapStore } from "./wrap-store.ts";

export interface CacheOptions {
  /**
   * Maximum number of bytes of values to keep, as a number or as `256MB`.
   *
   * @default 64MB
   */
  readonly maxBytes?: number | string | undefined;
}

const CACHE_OPTIONS: OptionNames<CacheOptions> = {
  maxBytes: true,
};

/** Bytes that each answer costs in addition to its value: its key and its place in a list. */
const OVERHEAD = 200;

/** Calls that may invalidate earlier answers. */
const CHANGES: readonly StoreOperation[] = ["set", "commit", "delete", "rename"];

/**
 * Caches values, parts of values, and the absence of keys. When the cache is full, the least recently used are
 * dropped. Writing through the returned store drops what it changes. **Changes by others are not seen** while an
 * old value is cached: use it for data that do not change while they are read.
 *
 * @throws `invalid-option` for an invalid size.
 * @example
 * ```ts
 * import { HttpStore } from "zarrflow/stores/http";
 * import { withCache } from "zarrflow/stores/with/cache";
 *
 * const store = withCache(new HttpStore("https://example.org/era5.zarr"), { maxBytes: "256MB" });
 * console.log(store.description); // https://example.org/era5.zarr
 * ```
 */
export function withCache<S extends Store>(store: S, options: CacheOptions = {}): Wrapped<S> {
  assertKnown(options, CACHE_OPTIONS);
  const { maxBytes = "64MB" } = options;
  const kept = new KeptValues(parseBytes(maxBytes));
  const changing = async <T>(forget: () => void, run: () => Promise<T>): Promise<T> => {
    forget();
    try {
      return await run();
    } finally {
      forget();
    }
  };
  const wrapped = wrapStore(store, ({ operation, key }, run) => {
    if (!CHANGES.includes(operation)) return run();
    return changing(() => (operation === "rename" ? kept.clear() : kept.forget(key)), run);
  });
  const get = async (key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> => {
    const { range, allocate = plainBuffers.take, onVersion, signal } = options;
    throwIfAborted(signal);
    const found = kept.find(key, range);
    if (found === undefined) {
      const { changes } = kept;
      let version: string | undefined;
      const noteVersion = (of: string) => {
        version = of;
        onVersion?.(of);
      };
      const bytes = await wrapped.get(key, { ...options, onVersion: noteVersion });
      if (kept.changes === changes) kept.keep(key, range, { value: bytes, version });
      return bytes;
    }
    if (found.value === undefined) return assertMissing(options);
    assertVersion(options, found.version);
    const bytes = allocate(found.value.length);
    bytes.set(found.value);
    return bytes;
  };
  const deleteMany = isWritable(wrapped) ? wrapped.deleteMany : undefined;
  return {
    ...wrapped,
    get,
    ...(deleteMany !== undefined && {
      deleteMany: (...request: Parameters<typeof deleteMany>) =>
        changing(
          () => kept.clear(),
          () => deleteMany(...request),
        ),
    }),
  };
}

/** An answer of the store; `value` is undefined for a missing key. */
interface Kept {
  readonly value: Uint8Array | undefined;
  readonly version: string | undefined;
}

/** Answers by key and range, the least recently used first. */
class KeptValues {
  /** Number of invalidations. Answers to earlier requests must not be kept. */
  changes = 0;
  readonly #limit: number;
  readonly #answers = new Map<string, Kept>();
  /** The names of the answers about each key. */
  readonly #names = new Map<string, Set<string>>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns the answer for the same key and range, or cuts the range from the whole value. */
  find(key: string, range: ByteRange | undefined): Kept | undefined {
    const same = this.#use(nameOf(key, range));
    if (same !== undefined || range === undefined) return same;
    const whole = this.#use(nameOf(key, undefined));
    if (whole?.value === undefined) return whole;
    const { offset, length } = resolveRange(range, whole.value.length);
    return { value: whole.value.subarray(offset, offset + length), version: whole.version };
  }

  /** Keeps a copy, because the caller owns `value`. */
  keep(key: string, range: ByteRange | undefined, { value, version }: Kept): void {
    const name = nameOf(key, value && range);
    this.#drop(key, name);
    if (cost(name, value) > this.#limit) return;
    this.#answers.set(name, { value: value?.slice(), version });
    this.#names.set(key, (this.#names.get(key) ?? new Set()).add(name));
    this.#bytes += cost(name, value);
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= this.#limit) break;
      this.#drop(keyIn(oldest), oldest);
    }
  }

  forget(key: string): void {
    this.changes++;
    for (const name of this.#names.get(key) ?? []) this.#drop(key, name);
  }

  clear(): void {
    this.changes++;
    this.#answers.clear();
    this.#names.clear();
    this.#bytes = 0;
  }

  #use(name: string): Kept | undefined {
    const kept = this.#answers.get(name);
    if (kept === undefined) return undefined;
    this.#answers.delete(name);
    this.#answers.set(name, kept);
    return kept;
  }

  #drop(key: string, name: string): void {
    const kept = this.#answers.get(name);
    if (kept === undefined) return;
    this.#answers.delete(name);
    this.#bytes -= cost(name, kept.value);
    const names = this.#names.get(key);
    names?.delete(name);
    if (names?.size === 0) this.#names.delete(key);
  }
}

/** Returns a name for a key and a range; keys contain no NUL. */
function nameOf(key: string, range: ByteRange | undefined): string {
  if (range === undefined) return `${key}\0`;
  return "suffix" in range ? `${key}\0-${range.suffix}` : `${key}\0${range.offset}+${range.length ?? ""}`;
}

function keyIn(name: string): string {
  return name.slice(0, name.indexOf("\0"));
}

function cost(name: string, value: Uint8Array | undefined): number {
  return OVERHEAD + name.length + (value?.length ?? 0);
}
