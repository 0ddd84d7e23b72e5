import type { ChunkData } from "../codecs/chunk-data.ts";
import type { ChunkSpec } from "../codecs/codec.ts";
import { fillData } from "../codecs/filled-data.ts";
import { withChunkSeparator, withSeparatorOnUse } from "../hierarchy/chunk-separator.ts";
import { type TypedZarrArray, withKeptIndexes, type ZarrArray } from "../hierarchy/node.ts";
import { groupInPlace, type OpenSource } from "../hierarchy/open/open.ts";
import { memoryOf, type ReadOptions, SLAB_OPTIONS, type SlabOptions } from "../hierarchy/read-options.ts";
import {
  DECODED_OPTIONS,
  type DecodedOptions,
  insideOf,
  type OpenSliceOptions,
  resolveArraySlice,
  Slice,
  type SliceChunk,
  type SliceOptions,
  type SliceValues,
} from "../hierarchy/slice.ts";
import type { ResolvedSlice, SliceOption } from "../hierarchy/slice-option.ts";
import { gridShape } from "../meta/array-metadata.ts";
import { type DataType, isFixed } from "../meta/data-type.ts";
import type { DataTypeName } from "../meta/data-type-name.ts";
import { numbersPerItem } from "../meta/number-kinds.ts";
import { parseScratch } from "../run/scratch/scratch.ts";
import type { Slab } from "../run/slabs/growing-slab.ts";
import { numbersOfChunk } from "../run/slabs/numbers-in.ts";
import { rawPieces } from "../run/slabs/raw.ts";
import type { TypedValues, ValuesOf } from "../run/slabs/typed-values.ts";
import type { SourceWatch } from "../run/source-watch.ts";
import type { StoreOptions } from "../stores/store.ts";
import { memoryLimit } from "../streams/byte-budget.ts";
import type { ChunkRef, DecodedChunk, Region } from "../streams/chunk.ts";
import { chunkRefs } from "../streams/chunk-refs.ts";
import { denseData } from "../streams/decode-chunks.ts";
import {
  type DecodedChunksOptions,
  decodedChunks,
  memoryPerChunk,
  readItems,
} from "../streams/read-chunks.ts";
import { boxInPiece, chunkRegion, selectedRegions, selectionOf } from "../streams/selection.ts";
import { shifted } from "../streams/shift-values.ts";
import { throwIfAborted, unlessAborted, untilAborted } from "../util/abort.ts";
import { plainBuffers } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import { checkedOptions, type OptionNames, pickOptions } from "../util/options.ts";
import type { OwnBytes } from "../util/platform-types.ts";
import { cStrides, product } from "../util/shape.ts";
import { formatBytes } from "../util/units.ts";
import { type ReadableStream, streamFrom } from "../util/web-streams.ts";
import type { LookedUp, TakenItems } from "./request/labels/found-labels.ts";
import { openSource } from "./request/open-source.ts";
import { aboutCoordinates, rangesAsked, sliceByIndices, takenByIndices } from "./request/slice-indices.ts";
import { limitAdaptive, limitConcurrency, pacedAccess, sliceConcurrency } from "./request/store-settings.ts";

/** Picks the options with which a flow reads an array that it has opened itself, so that its rate limits apply. */
export function openSliceOptions(options: ReadOptions & SlabOptions): OpenSliceOptions {
  return pickOptions(options, {
    ...SLAB_OPTIONS,
    concurrency: true,
    context: true,
    signal: true,
    maxMemory: true,
  });
}

const PIECE_BYTES = 2 ** 18;

/** Bytes, or items of varying size, that can be read into memory at once. */
const MAX_READ = 2 ** 32;

/** An array, and what is selected from it. */
interface FoundSlice {
  /** The array as opened. */
  readonly root: ZarrArray;
  /** The array as its chunks are read. */
  readonly array: ZarrArray;
  readonly lookedUp: LookedUp;
  readonly resolved: ResolvedSlice;
  /** Closes the files of a store that was opened for the slice; reading reopens them. */
  readonly release: () => Promise<void>;
}

/** An array open for one reading, by the chunks that are read, with its selection. */
export interface OpenSlice {
  readonly array: ZarrArray;
  readonly resolved: ResolvedSlice;
  /** The ranges that the selection was resolved from. */
  readonly lookedUp: LookedUp;
  /** If requested, checks after reading that the array has not changed in the meantime. @throws `source-changed` */
  readonly assertUnchanged: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface SliceSummary {
  readonly array: ZarrArray;
  readonly shape: readonly number[];
  readonly taken: readonly TakenItems[];
}

/** Reads a part of an array any number of times; the implementation of `Slice`. */
export class SliceReader {
  readonly #source: OpenSource;
  readonly #option: SliceOption | string;
  readonly #options: SliceOptions;
  /** If true, numbers are returned as stored, even if labels would shift them. */
  readonly #isStored: boolean;
  #found: Promise<FoundSlice> | undefined;
  /** Readings in progress. */
  #readings = 0;

  constructor(source: OpenSource, option: SliceOption | string, options: SliceOptions, isStored = false) {
    this.#source = source;
    this.#option = option;
    this.#options = options;
    this.#isStored = isStored;
  }

  /** Returns a reader of the same items whose numbers are as stored, never shifted. */
  stored(): SliceReader {
    const stored = new SliceReader(this.#source, this.#option, this.#options, true);
    stored.#found = this.#found;
    return stored;
  }

  dataType(): Promise<DataType> {
    return this.#opened(({ array }) => array.metadata.dataType);
  }

  shape(): Promise<number[]> {
    return this.#opened(({ resolved }) => keptShape(resolved));
  }

  taken(): Promise<readonly TakenItems[]> {
    return this.#opened(({ array, lookedUp }) => takenByIndices(lookedUp, array, this.#options));
  }

  /** The array, the shape of the slice, and which items it takes. */
  summary(): Promise<SliceSummary> {
    return this.#opened(async ({ array, resolved, lookedUp }) => ({
      array,
      shape: keptShape(resolved),
      taken: await takenByIndices(lookedUp, array, this.#options),
    }));
  }

  /** Chunks that the slice touches, in C order; those in shards shard by shard. */
  async *refs(): AsyncGenerator<ChunkRef> {
    const { resolved, close } = await this.open();
    try {
      const { root } = await this.#find();
      const array = (await withChunkSeparator(root, { signal: this.#options.signal })).innerChunks();
      for (const ref of chunkRefs(array, resolved.selection))
        yield { ...ref, key: array.chunkKey(ref.coords) };
    } finally {
      await close();
    }
  }

  read<Name extends DataTypeName>(): Promise<SliceValues<Name>> {
    const { signal } = this.#options;
    return this.#opened((opened) => unlessAborted(this.#read(opened), signal), true);
  }

  async #read<Name extends DataTypeName>({
    array,
    resolved,
    assertUnchanged,
  }: OpenSlice): Promise<SliceValues<Name>> {
    const { selection } = resolved;
    const shape = keptShape(resolved);
    const chunk = { ...(await array.pipeline()).spec, shape: selection.shape };
    assertMemory(chunk, array.path);
    let data: ChunkData | undefined;
    if (product(shape) > 0) {
      data = await readItems(array, selection, await this.#readingOf(array, 0));
      await assertUnchanged();
    }
    const found = data ?? fillData(chunk, plainBuffers);
    const region = { start: selection.shape.map(() => 0), shape: selection.shape };
    const all = shifted(found, chunk.dataType, { region, offset: 0 }, selection.shift);
    return {
      data: (await typedValuesOf(all, chunk.dataType)) as ValuesOf<Name>,
      shape,
      stride: cStrides(shape),
    };
  }

  async *slabs(): AsyncGenerator<Slab> {
    const { array, resolved, assertUnchanged, close } = await this.open(true);
    const { threads, strategy, context, signal } = this.#options;
    const { concurrency } = this.#concurrency(array);
    const scratch = parseScratch(this.#options.scratch, pacedAccess(this.#options));
    const options = { maxMemory: this.#maxMemory, concurrency, threads, strategy, scratch, context, signal };
    const { readSlabs } = await import("../run/slabs/read-slabs.ts");
    try {
      yield* untilAborted(readSlabs(array, resolved.selection, options), signal);
      await assertUnchanged();
    } finally {
      await close();
    }
  }

  async *pieces(): AsyncGenerator<OwnBytes> {
    for await (const bytes of rawPieces(this.slabs())) {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.slice(at, at + PIECE_BYTES);
    }
  }

  chunks(dense: boolean): AsyncGenerator<SliceChunk> {
    return this.#each((array, resolved) => this.#chunksOf(array, resolved, dense));
  }

  decoded(): AsyncGenerator<DecodedChunk> {
    return this.#each((array, resolved) => this.#decodedOf(array, resolved));
  }

  async *#each<T>(
    itemsOf: (array: ZarrArray, resolved: ResolvedSlice) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const { array, resolved, assertUnchanged, close } = await this.open(true);
    try {
      yield* untilAborted(itemsOf(array, resolved), this.#options.signal);
      await assertUnchanged();
    } finally {
      await close();
    }
  }

  async *#decodedOf(array: ZarrArray, { selection }: ResolvedSlice): AsyncGenerator<DecodedChunk> {
    const { spec, decodedSize } = await array.pipeline();
    let index = 0;
    for await (const { piece, region } of this.#parts(array, selection, decodedSize)) {
      const { coords, release } = piece;
      const data = piece.data && itemsOf(piece, spec, region, selection);
      if (!data) release?.();
      yield { index: index++, coords, region, data };
    }
  }

  async *#chunksOf(
    array: ZarrArray,
    { selection }: ResolvedSlice,
    dense: boolean,
  ): AsyncGenerator<SliceChunk> {
    const { dataType } = array.metadata;
    const { spec, decodedSize } = await array.pipeline();
    for await (const { piece, region } of this.#parts(array, selection, dense ? decodedSize : 0)) {
      const { shape } = region;
      if (dense) {
        const data = await typedValuesOf(itemsOf(piece, spec, region, selection), dataType);
        yield { region, data, shape, stride: cStrides(shape) };
        continue;
      }
      const data = piece.data ?? fillData({ ...spec, shape: piece.region.shape }, plainBuffers);
      const strides = data.kind === "fixed" ? data.strides : cStrides(data.shape);
      const box = boxInPiece(piece, strides, region, selection);
      const values = await typedValuesOf(
        shifted(data, dataType, { region, ...box }, selection.shift),
        dataType,
      );
      piece.release?.();
      const from = box.offset * numbersPerItem(dataType);
      yield { region, data: values.subarray(from), shape, stride: box.strides };
    }
  }

  /** Yields each chunk that a selection touches, once for each selected region in it. The last one releases it. */
  async *#parts(
    array: ZarrArray,
    selection: ResolvedSlice["selection"],
    copied: number,
  ): AsyncGenerator<{ readonly piece: DecodedChunk; readonly region: Region }> {
    for await (const piece of decodedChunks(array, selection, await this.#readingOf(array, copied))) {
      const regions = selectedRegions(selection, piece.region);
      const last = regions.length - 1;
      for (const [i, region] of regions.entries())
        yield { piece: i === last ? piece : { ...piece, release: undefined }, region };
    }
  }

  async #opened<T>(use: (opened: OpenSlice) => T | Promise<T>, isRead = false): Promise<T> {
    const opened = await this.open(isRead);
    try {
      return await use(opened);
    } finally {
      await opened.close();
    }
  }

  /**
   * Opens the array for one reading.
   *
   * @param isRead true if items are read, which must then be of one version
   */
  async open(isRead = false): Promise<OpenSlice> {
    const { consistent, signal } = this.#options;
    const ends = [limitConcurrency(this.#options)];
    this.#readings++;
    let release = async () => {};
    const close = async () => {
      for (const end of ends.splice(0).reverse()) end();
      if (--this.#readings === 0) await release();
    };
    try {
      const found = await this.#find();
      release = found.release;
      const { lookedUp, resolved } = found;
      const array = withKeptIndexes(found.array);
      const requests = this.#concurrency(array);
      ends.push(limitAdaptive(requests));
      let watch: SourceWatch | undefined;
      if (isRead && consistent) {
        const { SourceWatch } = await import("../run/source-watch.ts");
        watch = await SourceWatch.begin([found.root], [found.root.store], { signal });
        ends.push(() => watch?.end());
      }
      const { shift: _, ...selection } = resolved.selection;
      return {
        array,
        lookedUp,
        resolved: this.#isStored ? { ...resolved, selection } : resolved,
        assertUnchanged: async () => watch?.assertUnchanged({ concurrency: requests.concurrency, signal }),
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** The array and its selection, found once, or again after a failure. */
  #find(): Promise<FoundSlice> {
    const found = this.#found ?? this.#findNow();
    this.#found = found;
    found.catch(() => {
      if (this.#found === found) this.#found = undefined;
    });
    return found;
  }

  async #findNow(): Promise<FoundSlice> {
    const { concurrency: _, ...options } = this.#options;
    const { root, close: release } = await openSource(this.#source, options, { kind: "array" });
    let endLimit = () => {};
    let asked: SliceOption = {};
    try {
      if (root.kind === "group") throw groupInPlace(root);
      endLimit = limitAdaptive(this.#concurrency(root.innerChunks()));
      try {
        asked = await rangesAsked(this.#option, options);
        const lookedUp = await sliceByIndices(asked, root, this.#options);
        // its codecs load while its separator is found; a sharded array has other codecs than its inner chunks
        if (root.innerChunks() === root) root.pipeline().catch(() => {});
        const resolved = await resolveArraySlice(lookedUp.option, root, options.signal);
        const array = await withSeparatorOnUse(root, { signal: options.signal });
        return { root, array, lookedUp, resolved, release };
      } catch (error) {
        throw await aboutCoordinates(error, asked, root, options.signal);
      }
    } catch (error) {
      await release();
      throw error;
    } finally {
      endLimit();
    }
  }

  #concurrency(array: ZarrArray): ReturnType<typeof sliceConcurrency> {
    return sliceConcurrency(array, this.#options.concurrency, this.#maxMemory);
  }

  get #maxMemory(): number {
    return memoryLimit(this.#options);
  }

  /**
   * How chunks are read: as many at a time as the budget holds; without a stated budget at least one.
   *
   * @param copied bytes of the copy that is made of each chunk, one at a time
   * @throws `budget-too-small`
   */
  async #readingOf(array: ZarrArray, copied: number): Promise<DecodedChunksOptions> {
    const { signal, maxMemory, context } = this.#options;
    const needed = memoryPerChunk(array, await array.pipeline()) + copied;
    if (maxMemory !== undefined && needed > this.#maxMemory) {
      const { budgetTooSmall } = await import("../streams/budget-too-small.ts");
      throw budgetTooSmall(needed, this.#maxMemory, array.path, "rechunk the array");
    }
    const { concurrency } = this.#concurrency(array);
    return { concurrency, maxMemory: this.#maxMemory - copied, sharedMemory: memoryOf(context), signal };
  }
}

/**
 * Selects a part of an array, to be streamed as chunks or bytes, or read into memory, any number of times. The array is
 * opened once, on first use. For an array that is already open, only chunks are requested.
 *
 * @param source an open array, or the place of one: a URL, a store, a path in a store, a spec
 * @param option ranges of items by dimension name or in order, or their text; everything by default
 * @param options `sel` selects by labels as well; how to open the array applies only if it is not open yet
 * @throws `invalid-option`; (when it is read) `invalid-selection` for a wrong rank, name or range, and for labels that
 *   do not exist; `budget-too-small` with the smallest budget that works.
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
export function slice<Name extends DataTypeName = DataTypeName>(
  source: TypedZarrArray<Name>,
  option?: SliceOption | string,
  options?: OpenSliceOptions,
): Slice<Name>;
export function slice(source: OpenSource, option?: SliceOption | string, options?: SliceOptions): Slice;
export function slice(
  source: OpenSource,
  option: SliceOption | string = {},
  options: SliceOptions = {},
): Slice {
  return new Slice(source, option, options);
}

/**
 * Reads the decoded chunks of a part of an array, for the stages of `zarrflow/streams`. Each has its items in C order
 * and its region in the part, or no data if it is not stored. They come in any order. Chunks being read or decoded take
 * at most `maxMemory`; chunks that were handed out belong to the caller.
 *
 * @throws (into the stream) as `slice`
 * @example
 * ```ts
 * import { type DecodedChunk, create, like, openArray, readDecoded } from "zarrflow";
 *
 * const t2m = await openArray("era5.zarr/t2m");
 * const out = await create("celsius.zarr", { ...like(t2m), chunks: [744, 11, 7], attributes: { units: "degC" } });
 * const toCelsius = new TransformStream<DecodedChunk, DecodedChunk>({
 *   transform(chunk, controller) {
 *     const { buffer, byteOffset, length } = chunk.data?.bytes ?? new Uint8Array();
 *     const kelvin = new Float32Array(buffer, byteOffset, length / 4);
 *     for (const [i, value] of kelvin.entries()) kelvin[i] = value - 273.15;
 *     controller.enqueue(chunk);
 *   },
 * });
 * await readDecoded(t2m).pipeThrough(toCelsius).pipeTo(out.writable);
 * ```
 */
export function readDecoded(
  source: OpenSource,
  option: SliceOption | string = {},
  options: DecodedOptions = {},
): ReadableStream<DecodedChunk> {
  return streamFrom(insideOf(new Slice(source, option, checkedOptions(options, DECODED_OPTIONS))).decoded());
}

const STORE_OPTIONS: OptionNames<StoreOptions> = { signal: true };

/** The items of one chunk of an open array. @throws `invalid-selection` for coords outside the grid; as `read` */
export async function readChunkAt<Name extends DataTypeName>(
  array: ZarrArray,
  coords: readonly number[],
  options: StoreOptions,
): Promise<SliceChunk<Name>> {
  const { signal } = checkedOptions(options, STORE_OPTIONS);
  throwIfAborted(signal);
  const place = withKeptIndexes(await withSeparatorOnUse(array, { signal }));
  const { shape, chunkShape } = place;
  assertChunk(coords, gridShape(shape, chunkShape), array.path);
  const region = chunkRegion(coords, chunkShape, shape);
  const data = (await unlessAborted(valuesAt(place, region, signal), signal)) as ValuesOf<Name>;
  return { region, data, shape: region.shape, stride: cStrides(region.shape) };
}

/** The items of a region that lies in one chunk. */
async function valuesAt(
  array: ZarrArray,
  region: Region,
  signal: AbortSignal | undefined,
): Promise<TypedValues> {
  const { spec } = await array.pipeline();
  const selection = selectionOf(region);
  for await (const piece of decodedChunks(array, selection, { signal }))
    return typedValuesOf(denseData(piece, spec), array.metadata.dataType);
  throw new TypeError("a requested chunk was not read");
}

/** @throws `invalid-selection` */
function assertChunk(coords: readonly number[], grid: readonly number[], path: string): void {
  const isIn = (at: number | undefined, d: number) =>
    Number.isSafeInteger(at) && at !== undefined && at >= 0 && at < (grid[d] ?? 0);
  if (Array.isArray(coords) && coords.length === grid.length && coords.every(isIn)) return;
  throw new ZarrflowError("invalid-selection", "there is no chunk at these coords", {
    path,
    expected: `${grid.length} whole numbers from 0, below ${grid.join(", ")}`,
    found: Array.isArray(coords) ? `[${coords.join(", ")}]` : `${coords}`,
    hint: "Coords are chunk indices along each dimension (for shards, of inner chunks). chunkRefs lists those of a selection.",
  });
}

/** Copies the items of a chunk that lie in a region, in C order. */
function itemsOf(
  piece: DecodedChunk,
  spec: ChunkSpec,
  region: Region,
  selection: ResolvedSlice["selection"],
): ChunkData {
  const items = denseData(piece, spec, { region, selection });
  return shifted(items, spec.dataType, { region, offset: 0 }, selection.shift);
}

async function typedValuesOf(data: ChunkData, dataType: DataType): Promise<TypedValues> {
  const numbers = numbersOfChunk(data, dataType);
  if (numbers) return numbers;
  const { typedValues } = await import("../run/slabs/typed-values.ts");
  return typedValues(data, dataType);
}

function assertMemory({ shape, dataType }: ChunkSpec, path: string): void {
  const size = product(shape) * (isFixed(dataType) ? dataType.size : 1);
  if (size <= MAX_READ) return;
  throw new ZarrflowError("resource-limit", "the slice is too large to be read into memory", {
    path,
    expected: `at most ${formatBytes(MAX_READ)}`,
    found: formatBytes(size),
    hint: "Use a smaller slice, or stream it with chunks() or bytes().",
  });
}

function keptShape({ selection, dropped }: ResolvedSlice): number[] {
  return selection.shape.filter((_, d) => !dropped.includes(d));
}
