import type { Store } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** The last promise in the queue of each key, by store. */
const lines = new WeakMap<Store, Map<string, Promise<void>>>();

/**
 * The turns of one writer at keys of a store. Reading, changing and rewriting a chunk needs a turn, so that no other
 * writer in this process changes the chunk in the meantime.
 */
export class KeyMutex {
  readonly #line: Map<string, Promise<void>>;
  readonly #taken = new Set<() => void>();
  #isOver = false;

  constructor(store: Store) {
    this.#line = lines.get(store) ?? new Map();
    lines.set(store, this.#line);
  }

  /** Waits for the turn at `key`. Returns a function that ends it. */
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

  /** Ends all turns, including those still in the queue. */
  endAll(): void {
    this.#isOver = true;
    for (const end of this.#taken) end();
  }
}
