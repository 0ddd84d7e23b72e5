import type { Store, WritableStore } from "../store.ts";
import { BrokenPromise, describeError } from "./assert.ts";
import { callOf, recorded } from "./recorded-calls.ts";

/** How the checks come by stores of the kind that is to be checked: `filled`, `empty` or both. */
export interface StoreHarness {
  /** A store that holds exactly `values`, whatever way they came there. By default they are set in one of `empty`. */
  readonly filled?: Filled | undefined;
  /** Whether the kind can list. */
  readonly lists: boolean;
  /** A store without keys, to be written; absent for a kind that cannot be written. */
  readonly empty?: (() => Promise<WritableStore>) | undefined;
  /** What was written to a store of `empty`, to be read; absent where that store itself can be read. */
  readonly reopened?: ((store: WritableStore) => Promise<Store>) | undefined;
}

/** Makes a store that holds exactly some values. */
export type Filled = (values: ReadonlyMap<string, Uint8Array>) => Promise<Store>;

/** One promise of the store interfaces. */
export interface StoreCheck {
  /** The promise, in words. */
  readonly name: string;
  /**
   * Rejects if the promise is not kept, with an error that names the check, the call, what was expected and what was found:
   * `ranges are cut at the end of the value: get("ten", { range: { offset: 2, length: 3 } }): expected 3 bytes (from byte
   * 2 of the value on), found 10 bytes (the whole value)`.
   */
  run(): Promise<void>;
}

/** A check of a store that `open` gives, which is closed afterwards. */
export function check<S extends Store>(
  name: string,
  open: () => Promise<S>,
  body: (store: S) => Promise<void>,
): StoreCheck {
  return {
    name,
    async run() {
      try {
        const store = await open();
        try {
          await body(recorded(store));
        } finally {
          await store.close?.();
        }
      } catch (error) {
        if (error instanceof BrokenPromise)
          throw new Error(`${name}: ${error.message}`, { cause: error.cause });
        const call = callOf(error) ?? "a call";
        throw new Error(`${name}: ${call} failed with ${describeError(error)}`, { cause: error });
      }
    },
  };
}

/** `length` bytes that differ from key to key and from place to place. */
export function sample(length: number, seed = 1): Uint8Array {
  return new Uint8Array(length).map((_, i) => i * 31 + (i >> 8) * 7 + seed);
}

/** What must never be a key. */
export const BAD_KEYS = ["", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/./b", "a\\b", "..\\a", "a\0b"];

/** The way out for stores that take what is no key, or no notice of a signal. */
export const DEFINED = "`defineStore` takes care of that.";
