import type { TakenItems } from "../flows/request/labels/found-labels.ts";
import type { DecodedValues, DecodeOptions } from "../flows/slabs/decode/decoder.ts";
import type { Slab } from "../flows/slabs/slab.ts";
import type { ValuesOf } from "../flows/slabs/typed-values.ts";
import type { OpenSlice, SliceReader, SliceSummary } from "../flows/slice.ts";
import type { DataType } from "../meta/data-type.ts";
import type { DataTypeName } from "../meta/data-type-name.ts";
import { textOfUrl } from "../stores/assertions.ts";
import type { StoreOptions } from "../stores/store.ts";
import type { ChunkRef, DecodedChunk, Region } from "../streams/chunk.ts";
import { type ReadableStream, streamFrom } from "../streams/web.ts";
import { parseBytes } from "../util/byte-size.ts";
import { checkedOptions, isObject, type OptionNames, withoutEffect } from "../util/check-options.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { OwnBytes } from "../util/platform-types.ts";
import type { ZarrArray } from "./node.ts";
import type { OpenSource } from "./open/open.ts";
import {
  assertGridStrategy,
  assertNotOpening,
  type OPENING_OPTIONS,
  READ_OPTIONS,
  type ReadOptions,
  SLAB_OPTIONS,
  type SlabOptions,
} from "./read-options.ts";
import { LABEL_OPTIONS, type LabelOptions } from "./slice-labels.ts";
import type { SliceOption } from "./slice-option.ts";

/** A part of a slice: the items of one chunk. */
export interface SliceChunk<Name extends DataTypeName = DataTypeName> {
  /** Where it belongs in the slice, in items. */
  readonly region: Region;
  /** The items of the region, in C order; with `dense: false`, these and perhaps others. */
  readonly data: ValuesOf<Name>;
  readonly shape: readonly number[];
  /** Items of `data` to step for one step along each dimension. */
  readonly stride: readonly number[];
}

/** A slice in memory, in C order. */
export interface SliceValues<Name extends DataTypeName = DataTypeName> {
  readonly data: ValuesOf<Name>;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
}

/** A slice in memory, in C order, by what its values mean. */
export interface DecodedSliceValues {
  /** A missing item is NaN, or NaT (-2^63) of times; in a list of texts null. */
  readonly data: DecodedValues;
  /** Type of these values in words: `float32`, or `datetime64[us]` of times, which are microseconds since 1970. */
  readonly dataType: string;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
}

/** How the chunks of a part of an array are read as they are stored: no slabs are put together. */
export interface DecodedOptions extends ReadOptions, LabelOptions {
  /**
   * Checks, when all is read, that it is of one version of the array: its documents are compared with those that were read
   * when it was opened, and chunks that were missing must be missing since before (`source-changed`). Without it, nothing
   * but chunks is asked for.
   *
   * @default false
   */
  readonly consistent?: boolean | undefined;
}

/** How a part of an array is read. */
export interface SliceOptions extends DecodedOptions, SlabOptions {}

/** How a part of an array is read that is open, so that it is too late to say how to open it. */
export type OpenSliceOptions = Omit<SliceOptions, keyof typeof OPENING_OPTIONS>;

export const DECODED_OPTIONS: OptionNames<DecodedOptions> = {
  ...READ_OPTIONS,
  ...LABEL_OPTIONS,
  consistent: true,
};

const SLICE_OPTIONS: OptionNames<SliceOptions> = { ...DECODED_OPTIONS, ...SLAB_OPTIONS };

/** How chunks of a slice are given. */
export interface SliceChunkOptions {
  /**
   * Whether `data` are the items of the chunk's part of the slice and no others, in C order, in memory of their own. If not,
   * they may be all that the stored chunk holds, from the first item of the part on, to be stepped through by `stride`: no
   * item is copied.
   *
   * @default true
   */
  readonly dense?: boolean | undefined;
}

const CHUNK_OPTIONS: OptionNames<SliceChunkOptions> = { dense: true };

const VALUE_OPTIONS: OptionNames<DecodeOptions> = { decode: true, flags: true };

/** Arguments of methods that take none; callers from JavaScript may give some. */
type NoOptions = readonly [];

/** @throws `invalid-option` */
function assertNoOptions(given: NoOptions): void {
  for (const options of given as readonly unknown[]) {
    if (options === undefined) continue;
    const [name] = isObject(options) ? Object.keys(options) : [`${options}`];
    if (name === undefined) continue;
    throw new ZarrflowError("invalid-option", `unknown option \`${name}\``, {
      hint: "This method takes none: options are given where the slice is made, as in slice(source, ranges, options).",
    });
  }
}

/** What formats need of a slice: to open it, and the options that it is read with. */
export let insideOf: <Name extends DataTypeName>(
  slice: Slice<Name>,
) => {
  /** Opens it to be described: it is not checked whether its array changes meanwhile. */
  readonly open: () => Promise<OpenSlice>;
  readonly options: SliceOptions;
  /** What it is of, how many items it has, and which. */
  readonly summary: () => Promise<SliceSummary>;
  /** The chunks that it touches. */
  readonly refs: () => AsyncGenerator<ChunkRef>;
  /** These chunks, decoded. */
  readonly decoded: () => AsyncGenerator<DecodedChunk>;
  /** The same items with the numbers that are stored: none is shifted. */
  readonly stored: () => Slice;
};

/**
 * A part of an array, read when it is asked for, as often as that is. The array is opened once, by the first of these calls.
 * A file that was opened for that, of a zip, is closed whenever nothing is read, and opened again when something is, which
 * fails for another file in its place (`source-changed`). Other stores hold nothing open, so there is nothing to close.
 */
export class Slice<Name extends DataTypeName = DataTypeName> {
  readonly #source: string | Exclude<OpenSource, URL>;
  readonly #option: SliceOption | string;
  readonly #options: SliceOptions;
  #reader: Promise<SliceReader> | undefined;

  static {
    insideOf = (slice) => ({
      open: async () => (await slice.#read()).open(),
      summary: async () => (await slice.#read()).summary(),
      refs: () => slice.#each((reader) => reader.refs()),
      decoded: () => slice.#each((reader) => reader.decoded()),
      options: slice.#options,
      stored: () => {
        const stored = new Slice(slice.#source, slice.#option, slice.#options);
        stored.#reader = slice.#read().then((reader) => reader.stored());
        return stored;
      },
    });
  }

  constructor(from: OpenSource, option: SliceOption | string, options: SliceOptions) {
    const source = textOfUrl(from);
    this.#source = source;
    this.#option = option;
    this.#options = checkedOptions(options, SLICE_OPTIONS);
    if (isObject(source) && "layout" in source) assertNotOpening(options, "array");
    assertGridStrategy(options.strategy);
    if (options.maxMemory !== undefined) parseBytes(options.maxMemory);
  }

  /** Data type of the items. */
  async dataType(...none: NoOptions): Promise<DataType> {
    assertNoOptions(none);
    return (await this.#read()).dataType();
  }

  /** Shape of the slice, in items; dimensions that an index was given for are gone. */
  async shape(...none: NoOptions): Promise<number[]> {
    assertNoOptions(none);
    return (await this.#read()).shape();
  }

  /** What it takes of each dimension that it names: the items, and their labels where there is a coordinate. */
  async taken(...none: NoOptions): Promise<readonly TakenItems[]> {
    assertNoOptions(none);
    return (await this.#read()).taken();
  }

  /**
   * Its chunks as they come, in any order, each with its region; dimensions are kept, also those of one index. Those that
   * are read or decoded take no more than `maxMemory`; those that were given out are the caller's.
   *
   * @throws (into the stream) `budget-too-small` for a `maxMemory` that holds no chunk.
   */
  chunks(options: SliceChunkOptions = {}): ReadableStream<SliceChunk<Name>> {
    const { dense = true } = checkedOptions(options, CHUNK_OPTIONS);
    return streamFrom(this.#each((reader) => reader.chunks(dense) as AsyncGenerator<SliceChunk<Name>>));
  }

  /**
   * Its items in C order, little-endian, without any header: bool as one byte, datetimes as int64, structured
   * items packed. The first come as soon as the chunk that holds them is decoded.
   *
   * @throws `unsupported-operation` for strings and objects, which have no fixed size.
   */
  bytes(...none: NoOptions): ReadableStream<OwnBytes> {
    assertNoOptions(none);
    return streamFrom(this.#each((reader) => reader.pieces()));
  }

  /**
   * All of it in memory. What is given out is the caller's; chunks on the way there take no more than `maxMemory`.
   *
   * With `decode`, values are what they mean, as in tables: scaled, missing ones NaN, times of any CF units as
   * `datetime64`; `flags` gives flags by their names. They take memory beside those that are stored.
   *
   * @throws `budget-too-small` for a `maxMemory` that holds no chunk; `resource-limit` for more than one buffer can hold; the signal's reason as soon as it is aborted, whatever a
   *   codec does.
   * @example
   * ```ts
   * import { slice } from "zarrflow";
   *
   * const times = await slice("era5.zarr/time", { time: [0, 24] }).read({ decode: true });
   * console.log(times.dataType, times.data.at(0)); // datetime64[us] 1717200000000000n
   * ```
   */
  read(options?: DecodeOptions & { readonly decode?: false | undefined }): Promise<SliceValues<Name>>;
  read(options: DecodeOptions & { readonly decode: true }): Promise<DecodedSliceValues>;
  read(options?: DecodeOptions): Promise<SliceValues<Name> | DecodedSliceValues>;
  async read(options: DecodeOptions = {}): Promise<SliceValues<Name> | DecodedSliceValues> {
    const how = checkedOptions(options, VALUE_OPTIONS);
    if (!how.decode && how.flags)
      throw withoutEffect({ option: "flags" }, "stored values are read without `decode`");
    if (!how.decode) return (await this.#read()).read();
    const { decodedValues } = await import("../flows/slabs/decode/decoded-slice.ts");
    return decodedValues(this as unknown as Slice, how);
  }

  /** Its slabs in C order, within the memory budget; each is valid until the next is asked for. */
  slabs(...none: NoOptions): AsyncGenerator<Slab> {
    assertNoOptions(none);
    return this.#each((reader) => reader.slabs());
  }

  async *#each<T>(itemsOf: (reader: SliceReader) => AsyncGenerator<T>): AsyncGenerator<T> {
    yield* itemsOf(await this.#read());
  }

  #read(): Promise<SliceReader> {
    this.#reader ??= import("../flows/slice.ts").then(
      ({ SliceReader }) => new SliceReader(this.#source, this.#option, this.#options),
    );
    return this.#reader;
  }
}

/** What `chunk` of an open array does. */
export async function chunkAt<Name extends DataTypeName>(
  array: ZarrArray,
  coords: readonly number[],
  options: StoreOptions,
): Promise<SliceChunk<Name>> {
  const { readChunkAt } = await import("../flows/slice.ts");
  return readChunkAt(array, coords, options);
}
