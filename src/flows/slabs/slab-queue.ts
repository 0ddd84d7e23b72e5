import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { Region } from "../../streams/chunk.ts";
import { abortError, onAbort } from "../../util/abort.ts";

/** A slab of a selection; `data` is in C order, without gaps, and valid until the next one is asked for. */
export interface Slab {
  /** In coordinates of the selection's result. */
  readonly region: Region;
  readonly data: ChunkData;
}

/** Takes a slab by its number in C order; `give` is called when its buffer is not needed any more. */
export type TakeSlab = (slab: Slab, number: number, give: () => void, signal?: AbortSignal) => Promise<void>;

/** A slab that is made, and not taken. */
interface OfferedSlab {
  readonly slab: Slab;
  /** Gives its buffer back. */
  readonly give: () => void;
  readonly taken: () => void;
}

/** Slabs on their way from the tasks that make them, in any order, to who takes them in C order. */
export class SlabQueue {
  readonly #offered = new Map<number, OfferedSlab>();
  readonly #onWait: (isWaiting: boolean) => void;
  #failure: { readonly error: unknown } | undefined;
  #changed = () => {};

  /** @param onWait called when the reader begins to wait for the slab that is due, and when it does not any more */
  constructor(onWait: (isWaiting: boolean) => void = () => {}) {
    this.#onWait = onWait;
  }

  /** Offers a slab; resolves when it is taken. @throws `aborted` where the signal is first. */
  readonly offer: TakeSlab = (slab, number, give, signal) => {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#offered.delete(number);
        give();
        reject(abortError(signal?.reason));
      };
      if (signal?.aborted) return abort();
      const stopListening = onAbort(signal, abort);
      const taken = () => {
        stopListening();
        resolve();
      };
      this.#offered.set(number, { slab, give, taken });
      this.#changed();
    });
  };

  /** Ends what takes the slabs. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#changed();
  }

  /** So many slabs; each is given back when the next is asked for. @throws what `fail` is given. */
  async *inOrder(slabs: number): AsyncGenerator<Slab> {
    for (let due = 0; due < slabs; due++) {
      const { slab, give, taken } = await this.#next(due);
      taken();
      try {
        yield slab;
      } finally {
        give();
      }
    }
  }

  async #next(due: number): Promise<OfferedSlab> {
    for (;;) {
      if (this.#failure) throw this.#failure.error;
      const found = this.#offered.get(due);
      if (found) {
        this.#offered.delete(due);
        return found;
      }
      this.#onWait(true);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
      this.#onWait(false);
    }
  }
}
