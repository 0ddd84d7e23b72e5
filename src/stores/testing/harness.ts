import type { Store, WritableStore } from "../store.ts";
import { ContractViolation, describeError } from "./assert.ts";
import { callOf, recorded } from "./recorded-calls.ts";

/** Makes stores of the kind to check: `filled`, `empty` or both. */
export interface StoreHarness {
  /** Makes a store with exactly these `values`, in any way. By default they are set in a store from `empty`. */
  readonly filled?: Filled | undefined;
  /** True if this kind of store can list. */
  readonly lists: boolean;
  /** Makes a writable store without keys; absent for a read-only kind. */
  readonly empty?: (() => Promise<WritableStore>) | undefined;
  /** Opens what was written to a store from `empty` for reading; absent if that store itself can be read. */
  readonly reopened?: ((store: WritableStore) => Promise<Store>) | undefined;
}

/** Makes a store that contains exactly these values. */
export type Filled = (values: ReadonlyMap<string, Uint8Array>) => Promise<Store>;

/** A check of one rule of the store interfaces. */
export interface StoreCheck {
  /** The rule, in words. */
  readonly name: string;
  /**
   * Rejects if the rule is broken, with an error that names the check, the call, the expected result and the
   * actual one: `ranges are cut at the end of the value: get("ten", { range: { offset: 2, length: 3 } }): expected
   * 3 bytes (from byte 2 of the value on), found 10 bytes (the whole value)`.
   */
  run(): Promise<void>;
}

/** Makes a check that opens a store with `open` and closes it afterwards. */
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
        if (error instanceof ContractViolation)
          throw new Error(`${name}: ${error.message}`, { cause: error.cause });
        const call = callOf(error) ?? "a call";
        throw new Error(`${name}: ${call} failed with ${describeError(error)}`, { cause: error });
      }
    },
  };
}

/** Returns `length` bytes that depend on the position and on `seed`. */
export function sample(length: number, seed = 1): Uint8Array {
  return new Uint8Array(length).map((_, i) => i * 31 + (i >> 8) * 7 + seed);
}

/** Invalid keys. */
export const BAD_KEYS = ["", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/./b", "a\\b", "..\\a", "a\0b"];

/** Hint for stores that accept invalid keys or ignore signals. */
export const DEFINED = "`defineStore` takes care of that.";
