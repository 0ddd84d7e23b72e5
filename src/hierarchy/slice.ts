import type { TakenItems } from "../flows/request/labels/found-labels.ts";
import type { OpenSlice, SliceReader, SliceSummary } from "../flows/slice.ts";
import type { DataType } from "../meta/data-type.ts";
import type { DataTypeName } from "../meta/data-type-name.ts";
import { withAxes } from "../meta/dimension-names.ts";
import type { DecodedValues } from "../run/slabs/decoder.ts";
import type { Slab } from "../run/slabs/growing-slab.ts";
import type { ValueDecodingOptions } from "../run/slabs/raw.ts";
import type { ValuesOf } from "../run/slabs/typed-values.ts";
import { textOfUrl } from "../stores/assertions.ts";
import type { StoreOptions } from "../stores/store.ts";
import type { ChunkRef, DecodedChunk, Region } from "../streams/chunk.ts";
import { ZarrflowError } from "../util/errors.ts";
import { checkedOptions, isObject, type OptionNames, withoutEffect } from "../util/options.ts";
import type { OwnBytes } from "../util/platform-types.ts";
import { parseBytes } from "../util/units.ts";
import { type ReadableStream, streamFrom } from "../util/web-streams.ts";
import { nameOf, type ZarrArray } from "./node.ts";
import { axesFromAbove } from "./open/above-on-use.ts";
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
import {
  LABEL_OPTIONS,
  type LabelOptions,
  type ResolvedSlice,
  resolveSlice,
  type SliceOption,
} from "./slice-option.ts";

/** Part of a slice: the items of one chunk. */
export interface SliceChunk<Name extends DataTypeName = DataTypeName> {
  /** Position in the slice, in items. */
  readonly region: Region;
  /** The items of the region, in C order; with `dense: false` possibly with others between them. */
  readonly data: ValuesOf<Name>;
  readonly shape: readonly number[];
  /** Distance in `data`, in items, between neighbors along each dimension. */
  readonly stride: readonly number[];
}

/** A slice in memory, in C order. */
export interface SliceValues<Name extends DataTypeName = DataTypeName> {
  readonly data: ValuesOf<Name>;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
}

/** A slice in memory, in C order, with decoded values. */
export interface DecodedSliceValues {
  /** The values. A missing item is NaN, or NaT (-2^63) for times, or null in a list of texts. */
  readonly data: DecodedValues;
  /** Name of the type of these values: `float32`, or `datetime64[us]` for times, in microseconds since 1970. */
  readonly dataType: string;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
}

/** Options for reading the chunks of part of an array as they are stored, without assembling slabs. */
export interface DecodedOptions extends ReadOptions, LabelOptions {
  /**
   * Checks after reading that everything came from one version of the array (`source-changed`): its documents must be
   * as they were when it was opened, and missing chunks must have been missing from the start. Without this option only
   * chunks are requested.
   *
   * @default false
   */
  readonly consistent?: boolean | undefined;
}

/** Options for reading part of an array. */
export interface SliceOptions extends DecodedOptions, SlabOptions {}

/** Options for reading part of an array that is already open: those for opening it do not apply. */
export type OpenSliceOptions = Omit<SliceOptions, keyof typeof OPENING_OPTIONS>;

export const DECODED_OPTIONS: OptionNames<DecodedOptions> = {
  ...READ_OPTIONS,
  ...LABEL_OPTIONS,
  consistent: true,
};

const SLICE_OPTIONS: OptionNames<SliceOptions> = { ...DECODED_OPTIONS, ...SLAB_OPTIONS };

/** Options for the chunks of a slice. */
export interface SliceChunkOptions {
  /**
   * If true, `data` contains exactly the items of the chunk's part of the slice, in C order, in a buffer of its own. If
   * false, it may contain everything in the stored chunk from the first item of the part on, addressed by `stride`: no
   * item is copied.
   *
   * @default true
   */
  readonly dense?: boolean | undefined;
}

const CHUNK_OPTIONS: OptionNames<SliceChunkOptions> = { dense: true };

const VALUE_OPTIONS: OptionNames<ValueDecodingOptions> = { decode: true, flags: true };

/** Arguments of methods without options; JavaScript callers may still pass some. */
type NoOptions = readonly [];

/** @throws `invalid-option` */
function assertNoOptions(given: NoOptions): void {
  for (const options of given as readonly unknown[]) {
    if (options === undefined) continue;
    const [name] = isObject(options) ? Object.keys(options) : [`${options}`];
    if (name === undefined) continue;
    throw new ZarrflowError("invalid-option", `unknown option \`${name}\``, {
      hint: "This method takes no options: pass them when you make the slice, as in slice(source, ranges, options).",
    });
  }
}

/** Internals of a slice for formats: opening it, and the options it is read with. */
export let insideOf: <Name extends DataTypeName>(
  slice: Slice<Name>,
) => {
  /** Opens it for its description, without checking for changes of the array. */
  readonly open: () => Promise<OpenSlice>;
  readonly options: SliceOptions;
  /** Describes the array, the number of items and the selection. */
  readonly summary: () => Promise<SliceSummary>;
  /** The chunks that it touches. */
  readonly refs: () => AsyncGenerator<ChunkRef>;
  /** The same chunks, decoded. */
  readonly decoded: () => AsyncGenerator<DecodedChunk>;
  /** The same items as stored, without shifted labels. */
  readonly stored: () => Slice;
};

/**
 * Part of an array. Every call reads it again; the first call opens the array. The file of a zip that was opened for it
 * is closed while nothing is read and reopened on demand, which fails if another file has replaced it
 * (`source-changed`). Other stores hold no resources, so there is nothing to close.
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

  /** Shape of the slice in items, without the dimensions that were selected by an index. */
  async shape(...none: NoOptions): Promise<number[]> {
    assertNoOptions(none);
    return (await this.#read()).shape();
  }

  /** The selected items of each dimension that the slice names, with their labels if there is a coordinate. */
  async taken(...none: NoOptions): Promise<readonly TakenItems[]> {
    assertNoOptions(none);
    return (await this.#read()).taken();
  }

  /**
   * Streams the chunks in any order, each with its region; dimensions selected by an index are kept. Chunks that are
   * being read or decoded take at most `maxMemory`; chunks already delivered belong to the caller.
   *
   * @throws (into the stream) `budget-too-small` if `maxMemory` cannot hold a chunk.
   */
  chunks(options: SliceChunkOptions = {}): ReadableStream<SliceChunk<Name>> {
    const { dense = true } = checkedOptions(options, CHUNK_OPTIONS);
    return streamFrom(this.#each((reader) => reader.chunks(dense) as AsyncGenerator<SliceChunk<Name>>));
  }

  /**
   * Streams the items in C order, little-endian, without a header: bool as one byte, datetimes as int64, structured
   * items packed. The first items arrive as soon as their chunk is decoded.
   *
   * @throws `unsupported-operation` for strings and objects, which have no fixed size.
   */
  bytes(...none: NoOptions): ReadableStream<OwnBytes> {
    assertNoOptions(none);
    return streamFrom(this.#each((reader) => reader.pieces()));
  }

  /**
   * Reads everything into memory. The result belongs to the caller; chunks on the way there take at most `maxMemory`.
   *
   * With `decode`, values are decoded as in tables: scaled, missing ones as NaN, times in any CF units as `datetime64`;
   * `flags` replaces flag values by their names. Decoded values take memory in addition to the stored ones.
   *
   * @throws `budget-too-small` if `maxMemory` cannot hold a chunk; `resource-limit` for more than one buffer can hold;
   *   the signal's reason as soon as it is aborted, even while a codec is running.
   * @example
   * ```ts
   * import { slice } from "zarrflow";
   *
   * const times = await slice("era5.zarr/time", { time: [0, 24] }).read({ decode: true });
   * console.log(times.dataType, times.data.at(0)); // datetime64[us] 1717200000000000n
   * ```
   */
  read(options?: ValueDecodingOptions & { readonly decode?: false | undefined }): Promise<SliceValues<Name>>;
  read(options: ValueDecodingOptions & { readonly decode: true }): Promise<DecodedSliceValues>;
  read(options?: ValueDecodingOptions): Promise<SliceValues<Name> | DecodedSliceValues>;
  async read(options: ValueDecodingOptions = {}): Promise<SliceValues<Name> | DecodedSliceValues> {
    const how = checkedOptions(options, VALUE_OPTIONS);
    if (!how.decode && how.flags)
      throw withoutEffect({ option: "flags" }, "stored values are read without `decode`");
    if (!how.decode) return (await this.#read()).read();
    const { decodedValues } = await import("../tables/decoded-slice.ts");
    return decodedValues(this as unknown as Slice, how);
  }

  /**
   * Reads its slabs in C order, within the memory budget. Each slab is valid until the next one is requested. Stores
   * without blocking calls deliver a slab in parts, each once it is complete.
   */
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

/** Implementation of `chunk` for open arrays. */
export async function chunkAt<Name extends DataTypeName>(
  array: ZarrArray,
  coords: readonly number[],
  options: StoreOptions,
): Promise<SliceChunk<Name>> {
  const { readChunkAt } = await import("../flows/slice.ts");
  return readChunkAt(array, coords, options);
}

/**
 * Resolves `option` to items of an open array. Dimensions can also have the names of axes, if the array is a level of
 * an image.
 *
 * @throws as `resolveSlice`
 */
export async function resolveArraySlice(
  option: SliceOption,
  array: ZarrArray,
  signal: AbortSignal | undefined,
): Promise<ResolvedSlice> {
  const isByName = isObject(option) && !Array.isArray(option) && Object.keys(option).length > 0;
  const axes = isByName ? await axesFromAbove(array, signal) : undefined;
  return resolveSlice(option, withAxes(array.metadata, axes), array.path, {
    name: nameOf(array),
  });
}
