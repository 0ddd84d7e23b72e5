import type { ZarrArray } from "../../../hierarchy/node.ts";
import type { Slice } from "../../../hierarchy/slice.ts";
import { numbersPerItem } from "../../../meta/typed-array.ts";
import { product } from "../../../util/shape.ts";
import type { DecodedValues, Decoder } from "../decode/decoder.ts";
import type { Slab } from "../slab.ts";
import { ItemValues, type TypedValues, typedValues } from "../typed-values.ts";

/** Reads the values of a slice in C order, a number of items at a time. */
export class StreamedValues {
  readonly #slabs: AsyncGenerator<Slab>;
  readonly #array: ZarrArray;
  readonly #decoder: Decoder;
  #slab: TypedValues | undefined;
  #items = 0;
  #at = 0;
  #taken: DecodedValues = [];

  constructor(slice: Slice, array: ZarrArray, decoder: Decoder) {
    this.#slabs = slice.slabs();
    this.#array = array;
    this.#decoder = decoder;
  }

  /** The values that were taken last. */
  get values(): DecodedValues {
    return this.#taken;
  }

  /** Returns the number of items that are ready; infinity at the end. */
  async available(): Promise<number> {
    while (this.#at === this.#items) {
      const { value: slab, done } = await this.#slabs.next();
      if (done) return Number.POSITIVE_INFINITY;
      this.#slab = typedValues(slab.data, this.#array.metadata.dataType);
      this.#items = product(slab.data.shape);
      this.#at = 0;
    }
    return this.#items - this.#at;
  }

  take(count: number): void {
    const per = numbersPerItem(this.#array.metadata.dataType);
    const part = partOf(this.#slab, this.#at * per, count * per);
    this.#taken = this.#decoder.decode ? this.#decoder.decode(part) : part;
    this.#at += count;
  }

  async end(): Promise<void> {
    await this.#slabs.return(undefined);
  }
}

function partOf(values: TypedValues | undefined, start: number, count: number): TypedValues {
  if (values === undefined) return new Uint8Array(0);
  if (!(values instanceof ItemValues)) return values.subarray(start, start + count);
  return new ItemValues(count, (i) => values.at(start + i));
}
