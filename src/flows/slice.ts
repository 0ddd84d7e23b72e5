import type { ChunkData } from "../codecs/chunk-data.ts";
import type { ChunkSpec } from "../codecs/codec.ts";
import { fillData } from "../codecs/filled-data.ts";
import { maxStoredSize } from "../codecs/limits.ts";
import { withChunkSeparator } from "../hierarchy/chunk-separator.ts";
import { assertArray, throughStore, type ZarrArray } from "../hierarchy/node.ts";
import { groupInPlace } from "../hierarchy/open/open.ts";
import {
  assertGridStrategy,
  OPENING_OPTIONS,
  READ_OPTIONS,
  type ReadOptions,
  SLAB_OPTIONS,
  type SlabOptions,
} from "../hierarchy/read-options.ts";
import { resolveArraySlice } from "../hierarchy/resolve-array-slice.ts";
import { LABEL_OPTIONS, type LabelOptions } from "../hierarchy/slice-labels.ts";
import type { ResolvedSlice, SliceOption } from "../hierarchy/slice-option.ts";
import { type DataType, isFixed } from "../meta/data-type.ts";
import { numbersPerItem } from "../meta/typed-array.ts";
import { textOfUrl } from "../stores/assertions.ts";
import type { Store } from "../stores/store.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import type { DecodedChunk, Region } from "../streams/chunk.ts";
import { decodeChunks } from "../streams/decode-chunks.ts";
import { denseData } from "../streams/dense-data.ts";
import { narrowRefs } from "../streams/narrow-refs.ts";
import { readChunks } from "../streams/read-chunks.ts";
import { regrid } from "../streams/regrid.ts";
import { boxInPiece, selectedRegions } from "../streams/selection.ts";
import { shifted } from "../streams/shift-values.ts";
import { type ReadableStream, streamFrom } from "../streams/web.ts";
import { unlessAborted, untilAborted } from "../util/abort.ts";
import { plainBuffers } from "../util/buffers.ts";
import { formatBytes, parseBytes } from "../util/byte-size.ts";
import { checkedOptions, isObject, type OptionNames, pickOptions } from "../util/check-options.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { OwnBytes } from "../util/platform-types.ts";
import { cStrides, product } from "../util/shape.ts";
import { DEFAULT_MAX_MEMORY } from "./request/default-memory.ts";
import type { LookedUp, TakenItems } from "./request/labels/found-labels.ts";
import { openSource } from "./request/open-source.ts";
import { withPace } from "./request/rate-limits.ts";
import { aboutCoordinates, askedSlice, sliceByIndices, takenByIndices } from "./request/slice-indices.ts";
import { limitFoundIo, limitIo, sliceIo } from "./request/usual-io.ts";
import { parseScratch } from "./run/scratch/open-scratch.ts";
import { SourceWatch } from "./run/source-watch.ts";
import { rawPieces } from "./slabs/formats/raw.ts";
import { numbersIn } from "./slabs/numbers-in.ts";
import { chunksOf } from "./slabs/selected-chunks.ts";
import type { Slab } from "./slabs/slab-queue.ts";
import type { TypedValues, ValuesOf } from "./slabs/typed-values.ts";

/** A part of a slice: the items of one chunk. */
export interface SliceChunk<Name extends string = string> {
  /** Where it belongs in the slice, in items. */
  readonly region: Region;
  /** The items of the region, in C order; with `dense: false`, these and perhaps others. */
  readonly data: ValuesOf<Name>;
  readonly shape: readonly number[];
  /** Items of `data` to step for one step along each dimension. */
  readonly stride: readonly number[];
}

/** A slice in memory, in C order. */
export interface SliceValues<Name extends string = string> {
  readonly data: ValuesOf<Name>;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
}

/** How a part of an array is read. */
export interface SliceOptions extends ReadOptions, SlabOptions, LabelOptions {
  /**
   * Checks, when all is read, that it is of one version of the array: its documents are compared with those that were read
   * when it was opened, and chunks that were missing must be missing since before (`source-changed`). Without it, nothing
   * but chunks is asked for.
   *
   * @default false
   */
  readonly consistent?: boolean;
}

/** How a part of an array is read that is open, so that it is too late to say how to open it. */
export type OpenSliceOptions = Omit<SliceOptions, keyof typeof OPENING_OPTIONS>;

const SLICE_OPTIONS: OptionNames<SliceOptions> = {
  ...READ_OPTIONS,
  ...SLAB_OPTIONS,
  ...LABEL_OPTIONS,
  consistent: true,
};

/** Those of the options of a flow with which it reads an array that it has opened, within its rates. */
export function openSliceOptions(options: ReadOptions & SlabOptions): OpenSliceOptions {
  return pickOptions(options, { ...SLAB_OPTIONS, io: true, signal: true, maxMemory: true });
}

/** How chunks of a slice are given. */
export interface SliceChunkOptions {
  /**
   * Whether `data` are the items of the chunk's part of the slice and no others, in C order, in memory of their own. If not,
   * they may be all that the stored chunk holds, from the first item of the part on, to be stepped through by `stride`: no
   * item is copied.
   *
   * @default true
   */
  readonly dense?: boolean;
}

const CHUNK_OPTIONS: OptionNames<SliceChunkOptions> = { dense: true };

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

const PIECE_BYTES = 2 ** 18;

/** The most bytes, or items of varying size, that are read into memory at once. */
const MAX_READ = 2 ** 32;

/** An array that is cut, by the chunks that are read, and what is taken of it; `close` closes its store where that was opened for it. */
export interface OpenSlice {
  readonly array: ZarrArray;
  readonly resolved: ResolvedSlice;
  /** The ranges that it was resolved from. */
  readonly lookedUp: LookedUp;
  /** Checks, when all is read, that it was read from one version of the array, if that is asked for. @throws `source-changed` */
  readonly assertUnchanged: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface SliceSummary {
  readonly array: ZarrArray;
  readonly shape: readonly number[];
  readonly taken: readonly TakenItems[];
}

/** What formats need of a slice: to open it, and the options that it is read with. */
let insideOf: (slice: Slice) => {
  /** Opens it to be described: it is not checked whether its array changes meanwhile. */
  readonly open: () => Promise<OpenSlice>;
  readonly options: SliceOptions;
  /** What it is of, how many items it has, and which. */
  readonly summary: () => Promise<SliceSummary>;
  /** The same items with the numbers that are stored: none is shifted. */
  readonly stored: () => Slice;
};

/** A part of an array, read when it is asked for. */
export class Slice<Name extends string = string> {
  readonly #source: string | ZarrArray<Store, Name>;
  readonly #option: SliceOption | string;
  readonly #options: SliceOptions;
  /** An array that was open, through a store that keeps to the rates. */
  #paced: ZarrArray | undefined;
  /** Its labels as indices: they are looked up once. */
  #lookedUp: LookedUp | undefined;
  /** Whether numbers are those that are stored, though labels would have them shifted. */
  #isStored = false;

  static {
    insideOf = (slice) => ({
      open: () => slice.#open(),
      options: slice.#options,
      summary: () =>
        slice.#opened(async ({ array, resolved, lookedUp }) => ({
          array,
          shape: keptShape(resolved),
          taken: await takenByIndices(lookedUp, array, slice.#options),
        })),
      stored: () => {
        const stored = new Slice(slice.#source, slice.#option, slice.#options);
        stored.#lookedUp = slice.#lookedUp;
        stored.#isStored = true;
        return stored;
      },
    });
  }

  constructor(
    from: string | URL | ZarrArray<Store, Name>,
    option: SliceOption | string,
    options: SliceOptions,
  ) {
    const source = textOfUrl(from);
    this.#source = source;
    this.#option = option;
    this.#options = checkedOptions(options, SLICE_OPTIONS);
    if (typeof source !== "string") assertNotOpening(options);
    assertGridStrategy(options.strategy);
    parseBytes(options.maxMemory ?? DEFAULT_MAX_MEMORY);
  }

  /** Data type of the items. */
  async dataType(...none: NoOptions): Promise<DataType> {
    assertNoOptions(none);
    return this.#opened(({ array }) => array.metadata.dataType);
  }

  /** Shape of the slice, in items; dimensions that an index was given for are gone. */
  async shape(...none: NoOptions): Promise<number[]> {
    assertNoOptions(none);
    return this.#opened(({ resolved }) => keptShape(resolved));
  }

  /** What it takes of each dimension that it names: the items, and their labels where there is a coordinate. */
  async taken(...none: NoOptions): Promise<readonly TakenItems[]> {
    assertNoOptions(none);
    return this.#opened(({ array, lookedUp }) => takenByIndices(lookedUp, array, this.#options));
  }

  /**
   * Its chunks as they come, in any order, each with its region; dimensions are kept, also those of one index. Those that
   * are read or decoded take no more than `maxMemory`; those that were given out are the caller's.
   *
   * @throws (into the stream) `budget-too-small` for a `maxMemory` that holds no chunk.
   */
  chunks(options: SliceChunkOptions = {}): ReadableStream<SliceChunk<Name>> {
    const { dense = true } = checkedOptions(options, CHUNK_OPTIONS);
    return streamFrom(this.#chunks(dense));
  }

  /**
   * Its items in C order, little-endian, without any header: bool as one byte, datetimes as int64, structured
   * items packed.
   *
   * @throws `unsupported-operation` for strings and objects, which have no fixed size.
   */
  bytes(...none: NoOptions): ReadableStream<OwnBytes> {
    assertNoOptions(none);
    return streamFrom(this.#pieces());
  }

  /**
   * All of it in memory. What is given out is the caller's; chunks on the way there take no more than `maxMemory`.
   *
   * @throws `budget-too-small` for a `maxMemory` that holds no chunk; `resource-limit` for more than one buffer can hold; the signal's reason as soon as it is aborted, whatever a
   *   codec does.
   */
  async read(...none: NoOptions): Promise<SliceValues<Name>> {
    assertNoOptions(none);
    const { signal } = this.#options;
    return this.#opened((opened) => unlessAborted(this.#read(opened), signal), true);
  }

  async #read({ array, resolved, assertUnchanged }: OpenSlice): Promise<SliceValues<Name>> {
    const { selection } = resolved;
    const shape = keptShape(resolved);
    const chunk = { ...(await array.pipeline()).spec, shape: selection.shape };
    assertMemory(chunk, array.path);
    let data: ChunkData | undefined;
    if (product(shape) > 0) {
      const decoded = await this.#decoded(array, selection, 0);
      const whole = decoded.pipeThrough(
        regrid({ shape: selection.shape, chunk, strides: cStrides(selection.shape) }, { selection }),
      );
      for await (const piece of whole) data = piece.data;
      await assertUnchanged();
    }
    const found = data ?? fillData(chunk, plainBuffers);
    const region = { start: selection.shape.map(() => 0), shape: selection.shape };
    const all = shifted(found, chunk.dataType, { region, offset: 0 }, selection.shift);
    return {
      data: (await valuesOf(all, chunk.dataType)) as ValuesOf<Name>,
      shape,
      stride: cStrides(shape),
    };
  }

  /** Its slabs in C order, within the memory budget; each is valid until the next is asked for. */
  async *slabs(...none: NoOptions): AsyncGenerator<Slab> {
    assertNoOptions(none);
    const { array, resolved, assertUnchanged, close } = await this.#open(true);
    const { threads, strategy, signal } = this.#options;
    const { io } = this.#io(array);
    const scratch = parseScratch(this.#options.scratch);
    const options = { maxMemory: this.#maxMemory, io, threads, strategy, scratch, signal };
    const { readSlabs } = await import("./slabs/read-slabs.ts");
    try {
      yield* untilAborted(readSlabs(array, resolved.selection, options), signal);
      await assertUnchanged();
    } finally {
      await close();
    }
  }

  async *#pieces(): AsyncGenerator<OwnBytes> {
    for await (const bytes of rawPieces(this.slabs())) {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.slice(at, at + PIECE_BYTES);
    }
  }

  async *#chunks(dense: boolean): AsyncGenerator<SliceChunk<Name>> {
    const { array, resolved, assertUnchanged, close } = await this.#open(true);
    try {
      yield* untilAborted(this.#chunksOf(array, resolved, dense), this.#options.signal);
      await assertUnchanged();
    } finally {
      await close();
    }
  }

  async *#chunksOf(
    array: ZarrArray,
    { selection }: ResolvedSlice,
    dense: boolean,
  ): AsyncGenerator<SliceChunk<Name>> {
    const { dataType } = array.metadata;
    const { spec, decodedSize } = await array.pipeline();
    for await (const piece of await this.#decoded(array, selection, dense ? decodedSize : 0)) {
      const regions = selectedRegions(selection, piece.region);
      for (const [i, region] of regions.entries()) {
        const { shape } = region;
        const isLast = i === regions.length - 1;
        if (dense) {
          const held = isLast ? piece : { ...piece, release: undefined };
          const part = denseData(held, spec, { region, selection });
          const moved = shifted(part, dataType, { region, offset: 0 }, selection.shift);
          const data = (await valuesOf(moved, dataType)) as ValuesOf<Name>;
          yield { region, data, shape, stride: cStrides(shape) };
          continue;
        }
        const data = piece.data ?? fillData({ ...spec, shape: piece.region.shape }, plainBuffers);
        const strides = data.kind === "fixed" ? data.strides : cStrides(data.shape);
        const box = boxInPiece(piece, strides, region, selection);
        const values = await valuesOf(shifted(data, dataType, { region, ...box }, selection.shift), dataType);
        if (isLast) piece.release?.();
        const from = box.offset * numbersPerItem(dataType);
        yield { region, data: values.subarray(from) as ValuesOf<Name>, shape, stride: box.strides };
      }
    }
  }

  async #opened<T>(use: (opened: OpenSlice) => T | Promise<T>, isRead = false): Promise<T> {
    const opened = await this.#open(isRead);
    try {
      return await use(opened);
    } finally {
      await opened.close();
    }
  }

  /** @param isRead whether items are read, so that what is read is to be of one version */
  async #open(isRead = false): Promise<OpenSlice> {
    const options = this.#options;
    const { signal } = options;
    const { array, close: closeSource } = await this.#openSource();
    let watch: SourceWatch | undefined;
    let endLimit = () => {};
    let asked: SliceOption = {};
    const close = async () => {
      endLimit();
      watch?.end();
      await closeSource();
    };
    try {
      const found = this.#io(array.innerChunks());
      endLimit = limitFoundIo(found);
      asked = askedSlice(this.#option, options);
      this.#lookedUp ??= await sliceByIndices(asked, array, options);
      const lookedUp = this.#lookedUp;
      if (isRead && options.consistent) watch = await SourceWatch.begin([array], [array.store], { signal });
      // its codecs are loaded while its separator is looked for; those of shards are others than those of what is in them
      if (array.innerChunks() === array) array.pipeline().catch(() => {});
      const resolved = await resolveArraySlice(lookedUp.option, array, signal);
      const { shift: _, ...selection } = resolved.selection;
      return {
        array: (await withChunkSeparator(array, { signal })).innerChunks(),
        resolved: this.#isStored ? { ...resolved, selection } : resolved,
        lookedUp,
        assertUnchanged: async () => watch?.assertUnchanged({ io: found.io, signal }),
        close,
      };
    } catch (error) {
      const known = await aboutCoordinates(error, asked, array, signal);
      await close();
      throw known;
    }
  }

  /** The array, within the rates that were asked for. */
  async #openSource(): Promise<Pick<OpenSlice, "array" | "close">> {
    const source = this.#source;
    const options = this.#options;
    if (typeof source === "string") {
      const { root, close } = await openSource(source, options);
      if (root.kind === "array") return { array: root, close };
      await close();
      throw groupInPlace(root);
    }
    assertArray(source);
    this.#paced ??= throughStore(source, withPace(source.store, options, undefined));
    const endLimit = limitIo(options.io);
    return { array: this.#paced, close: async () => endLimit() };
  }

  #io(array: ZarrArray): ReturnType<typeof sliceIo> {
    return sliceIo(array, this.#options.io, this.#maxMemory);
  }

  get #maxMemory(): number {
    return parseBytes(this.#options.maxMemory ?? DEFAULT_MAX_MEMORY);
  }

  /**
   * The chunks that a selection touches, decoded, as many at one time as the budget holds; where nobody stated it, one at
   * least.
   *
   * @param copied bytes of the copy that is made of each, one at a time
   * @throws `budget-too-small`
   */
  async #decoded(
    array: ZarrArray,
    selection: ResolvedSlice["selection"],
    copied: number,
  ): Promise<ReadableStream<DecodedChunk>> {
    const { signal, maxMemory } = this.#options;
    const pipeline = await array.pipeline();
    const { decodedSize, maxEncodedSize, scratchSize } = pipeline;
    // of chunks that are read together in a shard there are copies
    const bytesPerChunk = decodedSize + scratchSize + (array.shards ? 2 : 1) * maxEncodedSize;
    const needed = bytesPerChunk + copied;
    if (maxMemory !== undefined && needed > this.#maxMemory) {
      const { budgetTooSmall } = await import("./plan/task-memory.ts");
      throw budgetTooSmall(needed, this.#maxMemory, array.path, "rechunk the array");
    }
    const refs = narrowRefs(chunksOf(array, selection), selection, pipeline);
    const budget = new ByteBudget(Math.max(this.#maxMemory, needed) - copied);
    const options = {
      concurrency: this.#io(array).io,
      inFlight: { budget, bytesPerChunk },
      maxEncodedSize: maxStoredSize(pipeline),
      signal,
    };
    return readChunks(array, refs, options).pipeThrough(decodeChunks(array));
  }
}

export { insideOf };

/**
 * A part of an array, to be streamed as chunks or as bytes, or read into memory. Of an array that is open, nothing but
 * chunks is asked for.
 *
 * @param options with `sel` also the part by labels; how it is opened only where it is given by its URL
 * @throws `invalid-option`; (when it is read) `invalid-selection` for a wrong rank, name or range, and for labels that are
 *   not there; `budget-too-small` with the smallest budget that works.
 * @example
 * ```ts
 * import { slice } from "zarrflow";
 *
 * const day = slice("era5.zarr/t2m", { time: [0, 24] });
 * const { data, shape } = await day.read();
 * console.log(shape, data.at(0));
 *
 * const band = slice("era5.zarr/t2m", {}, { sel: { time: "2024-06-03", latitude: [45, 50] } });
 * console.log((await band.shape()).join(" x ")); // 24 x 4 x 49
 * ```
 */
export function slice<Name extends string = string>(
  source: ZarrArray<Store, Name>,
  option?: SliceOption | string,
  options?: OpenSliceOptions,
): Slice<Name>;
export function slice(source: string | URL, option?: SliceOption | string, options?: SliceOptions): Slice;
export function slice<Name extends string = string>(
  source: string | URL | ZarrArray<Store, Name>,
  option?: SliceOption | string,
  options?: OpenSliceOptions,
): Slice<Name>;
export function slice<Name extends string = string>(
  source: string | URL | ZarrArray<Store, Name>,
  option: SliceOption | string = {},
  options: SliceOptions = {},
): Slice<Name> {
  return new Slice(source, option, options);
}

/** @throws `invalid-option` for options of opening, where the array is open. */
function assertNotOpening(options: SliceOptions): void {
  const name = Object.keys(options).find((one) => Object.hasOwn(OPENING_OPTIONS, one));
  if (name === undefined || options[name as keyof SliceOptions] === undefined) return;
  throw new ZarrflowError("invalid-option", `\`${name}\` has no effect on an array that is open`, {
    hint: `Give \`${name}\` to openArray, or slice the array by its URL.`,
  });
}

async function valuesOf(data: ChunkData, dataType: DataType): Promise<TypedValues> {
  const numbers = numbersIn(data, dataType);
  if (numbers) return numbers;
  const { typedValues } = await import("./slabs/typed-values.ts");
  return typedValues(data, dataType);
}

function assertMemory({ shape, dataType }: ChunkSpec, path: string): void {
  const size = product(shape) * (isFixed(dataType) ? dataType.size : 1);
  if (size <= MAX_READ) return;
  throw new ZarrflowError("resource-limit", "the slice is too large to be read into memory", {
    path,
    expected: `at most ${formatBytes(MAX_READ)}`,
    found: formatBytes(size),
    hint: "Take a smaller slice, or stream it with chunks() or bytes().",
  });
}

function keptShape({ selection, dropped }: ResolvedSlice): number[] {
  return selection.shape.filter((_, d) => !dropped.includes(d));
}
