import type { Store, WritableStore } from "../store.ts";

/** How the checks come by stores of the kind that is to be checked. */
export interface StoreHarness {
  /** A store that holds exactly `values`, whatever way they came there. */
  readonly filled: (values: ReadonlyMap<string, Uint8Array>) => Promise<Store>;
  /** Whether the kind can list. */
  readonly lists: boolean;
  /** A store without keys, to be written; absent for a kind that cannot be written. */
  readonly empty?: () => Promise<WritableStore>;
  /** What was written to a store of `empty`, to be read; absent where that store itself can be read. */
  readonly reopened?: (store: WritableStore) => Promise<Store>;
}

/** One promise of the store interfaces; `run` rejects when it is not kept. */
export interface StoreCheck {
  readonly name: string;
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
      const store = await open();
      try {
        await body(store);
      } finally {
        await store.close?.();
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
