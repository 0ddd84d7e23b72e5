import type { Store } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** The last in line at each key of each store. */
const lines = new WeakMap<Store, Map<string, Promise<void>>>();

/**
 * The turns that one writer has at keys of a store. To read a chunk, change it and write it takes a turn, so that in
 * this process nobody else does the same meanwhile.
 */
export class KeyMutex {
  readonly #line: Map<string, Promise<void>>;
  readonly #taken = new Set<() => void>();
  #isOver = false;

  constructor(store: Store) {
    this.#line = lines.get(store) ?? new Map();
    lines.set(store, this.#line);
  }

  /** Waits for the turn at `key`. Returns what ends it. */
  async take(key: string): Promise<() => void> {
    const before = this.#line.get(key);
    let pass = () => {};
    const turn = new Promise<void>((resolve) => {
      pass = resolve;
    });
    this.#line.set(key, turn);
    const end = () => {
      this.#taken.delete(end);
      if (this.#line.get(key) === turn) this.#line.delete(key);
      pass();
    };
    await before;
    this.#taken.add(end);
    if (!this.#isOver) return end;
    end();
    throw new ZarrflowError("aborted", "the write was aborted before it started", { key });
  }

  /** Ends all turns, also those that are still to come. */
  endAll(): void {
    this.#isOver = true;
    for (const end of this.#taken) end();
  }
}
