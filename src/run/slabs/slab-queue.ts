import { abortError, onAbort } from "../../util/abort.ts";
import { product } from "../../util/shape.ts";
import { type GrowingSlab, type Slab, slabParts } from "./growing-slab.ts";

/** Takes a slab with its number in C order; `give` returns its buffer once it is no longer needed. */
export type TakeSlab = (slab: Slab, number: number, give: () => void, signal?: AbortSignal) => Promise<void>;

/** Called whenever items of an incomplete slab arrive. */
export type GrowSlab = (slab: GrowingSlab, number: number) => void;

/** A slab that is complete but not taken yet. */
interface OfferedSlab {
  readonly slab: Slab;
  /** Gives its buffer back. */
  readonly give: () => void;
  readonly taken: () => void;
}

/** Minimum size in bytes of a part of an incomplete slab, except for the first part of all. */
const MIN_PART = 2 ** 18;

/** The next slab in order, from the items that were not delivered before. */
interface Due {
  readonly slab: Slab;
  /** Number of items that are complete, from the first. */
  readonly ready: number;
  readonly whole?: OfferedSlab;
}

/** Queue of slabs from the tasks that make them, in any order, to a reader that takes them in C order. */
export class SlabQueue {
  readonly #offered = new Map<number, OfferedSlab>();
  readonly #onWait: (isWaiting: boolean) => void;
  #due = 0;
  /** The next slab, if it is incomplete. */
  #growing: GrowingSlab | undefined;
  /** Number of items of it that were delivered. */
  #given = 0;
  #failure: { readonly error: unknown } | undefined;
  #changed = () => {};

  /** @param onWait called when the reader starts to wait for the next slab, and when it stops */
  constructor(onWait: (isWaiting: boolean) => void = () => {}) {
    this.#onWait = onWait;
  }

  /** Offers a slab; resolves when it is taken. @throws `aborted` if the signal is aborted first. */
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

  /** Notes the complete part of a slab, which is delivered if the reader waits for that slab. */
  readonly grow: GrowSlab = (slab, number) => {
    if (number !== this.#due) return;
    this.#growing = slab;
    if (this.#grown()) this.#changed();
  };

  /** Fails the reader. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#changed();
  }

  /**
   * Delivers the given number of slabs in order. A slab that the reader waits for arrives in parts. Each buffer is
   * returned when the next slab is requested.
   *
   * @throws the error given to `fail`.
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

  /** The complete part of the next slab, if it is large enough to be delivered. */
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
