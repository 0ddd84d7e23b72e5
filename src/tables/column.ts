import type { ZarrArray } from "../hierarchy/node.ts";
import type { Slice } from "../hierarchy/slice.ts";
import type { Calendar } from "../meta/conventions/cf/time.ts";
import type { DataType } from "../meta/data-type.ts";
import { numberKindOf, numbersPerItem } from "../meta/number-kinds.ts";
import type { DecodedValues, Decoder } from "../run/slabs/decoder.ts";
import type { Slab } from "../run/slabs/growing-slab.ts";
import { ItemValues, type TypedValues, typedValues } from "../run/slabs/typed-values.ts";
import { ZarrflowError } from "../util/errors.ts";
import { product } from "../util/shape.ts";

/** Source of the values of a column. */
export type ColumnSource = {
  readonly dataType: DataType;
  readonly calendar?: Calendar;
} & (
  | { readonly stream: StreamedValues }
  /** Repeated values, with strides: the distance in `values` between neighbors along each dimension of the table. */
  | { readonly values: DecodedValues; readonly strides: readonly number[] }
);

/** Rows that are available at once. */
export interface Rows {
  /** Number of the first row. */
  readonly start: number;
  readonly count: number;
}

/** A column of a table. */
export class Column {
  readonly name: string;
  readonly dataType: DataType;
  readonly calendar: Calendar | undefined;
  readonly #source: ColumnSource;
  readonly #shape: readonly number[];
  /** Index of the component of complex numbers: 0 for the real part, 1 for the imaginary part. */
  readonly #number: number | undefined;

  private constructor(
    name: string,
    source: ColumnSource,
    shape: readonly number[],
    { dataType = source.dataType, number }: { dataType?: DataType; number?: number } = {},
  ) {
    this.name = name;
    this.dataType = dataType;
    this.calendar = source.calendar;
    this.#source = source;
    this.#shape = shape;
    this.#number = number;
  }

  /**
   * Returns the column of an array, or two for complex numbers, with the suffixes `.re` and `.im`.
   *
   * @throws `unsupported-operation`
   */
  static of(name: string, source: ColumnSource, shape: readonly number[]): Column[] {
    const { dataType } = source;
    if (dataType.kind === "struct" || dataType.kind === "object") {
      throw new ZarrflowError("unsupported-operation", `${dataType.kind}s cannot be columns of a table`, {
        path: name,
        hint: "Use --format json.",
      });
    }
    const half = numberKindOf(dataType)?.part?.type;
    if (half === undefined) return [new Column(name, source, shape)];
    return ["re", "im"].map(
      (part, number) => new Column(`${name}.${part}`, source, shape, { dataType: half, number }),
    );
  }

  /** The repeated values; undefined if each row has its own. */
  get repeated(): DecodedValues | undefined {
    return "values" in this.#source ? this.#numbers(this.#source.values) : undefined;
  }

  /** The index of the repeated value of each row. */
  indices({ start, count }: Rows): Uint32Array {
    const indices = new Uint32Array(count);
    if (!("strides" in this.#source)) return indices;
    const { strides } = this.#source;
    const coords: number[] = [];
    let rest = start;
    for (const n of this.#shape.toReversed()) {
      coords.unshift(rest % n);
      rest = Math.floor(rest / n);
    }
    let index = coords.reduce((sum, at, d) => sum + at * (strides[d] ?? 0), 0);
    const last = this.#shape.length - 1;
    for (let row = 0; row < count; row++) {
      indices[row] = index;
      for (let d = last; d >= 0; d--) {
        const stride = strides[d] ?? 0;
        const n = this.#shape[d] ?? 1;
        const next = (coords[d] ?? 0) + 1;
        index += stride;
        coords[d] = next;
        if (next < n) break;
        coords[d] = 0;
        index -= stride * n;
      }
    }
    return indices;
  }

  /** The values of rows. */
  valuesOf(rows: Rows): DecodedValues {
    if ("stream" in this.#source) return this.#numbers(this.#source.stream.values);
    const repeated = this.repeated ?? [];
    const indices = this.indices(rows);
    if (!ArrayBuffer.isView(repeated)) return Array.from(indices, (i) => repeated.at(i) as string | null);
    const Values = repeated.constructor as new (length: number) => Float64Array;
    const values = new Values(rows.count);
    for (let i = 0; i < rows.count; i++) values[i] = (repeated as Float64Array)[indices[i] ?? 0] ?? 0;
    return values;
  }

  #numbers(values: DecodedValues): DecodedValues {
    if (this.#number === undefined) return values;
    const at = this.#number;
    const numbers = values as Float64Array;
    const Numbers = numbers.constructor as new (length: number) => Float64Array;
    const half = new Numbers(numbers.length / 2);
    for (let i = 0; i < half.length; i++) half[i] = numbers[2 * i + at] ?? 0;
    return half;
  }
}

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
