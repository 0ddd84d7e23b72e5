import { abortError, onAbort } from "../../util/abort.ts";
import { product } from "../../util/shape.ts";
import type { GrowingSlab } from "./growing-slab.ts";
import { type Slab, slabParts } from "./slab.ts";

/** Takes a slab by its number in C order; `give` is called when its buffer is not needed any more. */
export type TakeSlab = (slab: Slab, number: number, give: () => void, signal?: AbortSignal) => Promise<void>;

/** Is told, as often as items of a slab come that is not whole, what of it is there. */
export type GrowSlab = (slab: GrowingSlab, number: number) => void;

/** A slab that is made, and not taken. */
interface OfferedSlab {
  readonly slab: Slab;
  /** Gives its buffer back. */
  readonly give: () => void;
  readonly taken: () => void;
}

/** Parts of a slab that are given out before it is whole have so many bytes at the least, but for the very first. */
const MIN_PART = 2 ** 18;

/** Items of the slab that is due, from those that were given out before on. */
interface Due {
  readonly slab: Slab;
  /** How many of its items, from the first on, are there. */
  readonly ready: number;
  readonly whole?: OfferedSlab;
}

/** Slabs on their way from the tasks that make them, in any order, to who takes them in C order. */
export class SlabQueue {
  readonly #offered = new Map<number, OfferedSlab>();
  readonly #onWait: (isWaiting: boolean) => void;
  #due = 0;
  /** The slab that is due, as far as it is there. */
  #growing: GrowingSlab | undefined;
  /** Items of it that were given out. */
  #given = 0;
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

  /** Notes what is there of a slab that is not whole: the reader gets it where it waits for that slab. */
  readonly grow: GrowSlab = (slab, number) => {
    if (number !== this.#due) return;
    this.#growing = slab;
    if (this.#grown()) this.#changed();
  };

  /** Ends what takes the slabs. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#changed();
  }

  /**
   * So many slabs, those that are waited for in parts; each is given back when the next is asked for.
   *
   * @throws what `fail` is given.
   */
  async *inOrder(slabs: number): AsyncGenerator<Slab> {
    while (this.#due < slabs) {
      const { slab, ready, whole } = await this.#next();
      const given = this.#given;
      this.#given = ready;
      if (whole) this.#take(whole);
      try {
        yield* slabParts(slab, given, ready);
      } finally {
        whole?.give();
      }
    }
  }

  async #next(): Promise<Due> {
    for (;;) {
      if (this.#failure) throw this.#failure.error;
      const whole = this.#offered.get(this.#due);
      if (whole) return { slab: whole.slab, ready: product(whole.slab.region.shape), whole };
      const grown = this.#grown();
      if (grown) return grown;
      this.#onWait(true);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
      this.#onWait(false);
    }
  }

  /** What has come of the slab that is due, if it is worth a part. */
  #grown(): Due | undefined {
    const { slab, ready = 0 } = this.#growing ?? {};
    if (slab?.data.kind !== "fixed") return undefined;
    const isFirst = this.#due === 0 && this.#given === 0;
    const bytes = (ready - this.#given) * slab.data.itemSize;
    return bytes >= (isFirst ? 1 : MIN_PART) ? { slab, ready } : undefined;
  }

  #take({ taken }: OfferedSlab): void {
    this.#offered.delete(this.#due++);
    this.#growing = undefined;
    this.#given = 0;
    taken();
  }
}
