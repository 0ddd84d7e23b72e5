import type { ChunkData, FixedData, VariableData } from "../codecs/chunk-data.ts";
import type { ChunkSpec } from "../codecs/codec.ts";
import { fillItems } from "../codecs/filled-data.ts";
import { copyBox, copyShared, fillBox, heapBox } from "../codecs/kernels/copy-box.ts";
import type { HeapBox } from "../codecs/kernels/kernel-types.ts";
import { MAX_CHUNK_SIZE, offsetsOf } from "../codecs/limits.ts";
import { isFixed } from "../meta/data-type.ts";
import type { Buffers } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import { coordsOf, cStrides, indexOf, product } from "../util/shape.ts";
import type { DecodedChunk, Region } from "./chunk.ts";
import { boxInPiece, intersect, type Selection } from "./selection.ts";

/** A target chunk that is being filled with items. */
export interface Assembly {
  /** Adds the items of `piece` that cover `region` of the target. The caller keeps ownership of the piece. */
  add(piece: DecodedChunk, region: Region): void;
  /**
   * Starts the chunk and returns the box to copy items of this size to. Call it only if you copy some of them there.
   * Undefined if such items can only be added with `add`.
   */
  boxFor?(items: FixedData): HeapBox | undefined;
  /** The data of an incomplete chunk, with its items in place; undefined until data have arrived. */
  readonly begun?: FixedData | undefined;
  /** Returns the data of the complete chunk, or undefined if all its pieces were missing chunks. */
  finish(): ChunkData | undefined;
}

/** The error for a piece with items of another type than the chunk's; `expected` and `found` describe the items. */
export function otherItems(piece: DecodedChunk, expected: string, found: string): ZarrflowError {
  return new ZarrflowError("invalid-option", "the items do not have the data type of the target", {
    coords: piece.coords,
    expected,
    found,
  });
}

export interface FixedAssemblyOptions {
  readonly chunk: ChunkSpec;
  readonly region: Region;
  readonly strides: readonly number[];
  readonly selection: Selection;
  readonly buffers: Buffers;
}

/** A target chunk of items of fixed size. Takes its one buffer with the first piece that is not missing. */
export class FixedAssembly implements Assembly {
  readonly #options: FixedAssemblyOptions;
  readonly #itemSize: number;
  readonly #overhangs: boolean;
  #data: FixedData | undefined;
  #box: HeapBox | undefined;
  #someMissing = false;

  constructor(options: FixedAssemblyOptions) {
    this.#options = options;
    const { chunk, region } = options;
    this.#itemSize = isFixed(chunk.dataType) ? chunk.dataType.size : 0;
    this.#overhangs = chunk.shape.some((n, d) => n !== region.shape[d]);
  }

  add(piece: DecodedChunk, region: Region): void {
    const { chunk, selection, strides } = this.#options;
    const to = { offset: this.#placeOf(region.start), strides };
    if (piece.data === undefined) {
      this.#someMissing = true;
      if (this.#data) fillBox(this.#data.bytes, to, region.shape, this.#itemSize, chunk.fillValue);
      return;
    }
    if (piece.data.kind !== "fixed") throw otherItems(piece, bytesEach(this.#itemSize), "variable-size data");
    if (piece.data.itemSize !== this.#itemSize)
      throw otherItems(piece, bytesEach(this.#itemSize), bytesEach(piece.data.itemSize));
    this.#data ??= this.#begin();
    const from = boxInPiece(piece, piece.data.strides, region, selection);
    copyBox(piece.data.bytes, from, this.#data.bytes, to, region.shape, this.#itemSize);
  }

  boxFor({ itemSize }: FixedData): HeapBox | undefined {
    if (itemSize !== this.#itemSize) return undefined;
    this.#data ??= this.#begin();
    return this.#box;
  }

  get begun(): FixedData | undefined {
    return this.#data;
  }

  finish(): FixedData | undefined {
    return this.#data;
  }

  /** Position of a target item in the layout of this chunk, in items. */
  #placeOf(item: readonly number[]): number {
    const { region, strides } = this.#options;
    let place = 0;
    for (let d = 0; d < item.length; d++)
      place += ((item[d] ?? 0) - (region.start[d] ?? 0)) * (strides[d] ?? 0);
    return place;
  }

  #begin(): FixedData {
    const { buffers, chunk, region, strides } = this.#options;
    const bytes = buffers.take(product(chunk.shape) * this.#itemSize);
    this.#box = heapBox(bytes, region, { offset: 0, strides }, this.#itemSize);
    if (this.#overhangs || this.#someMissing) fillItems(bytes, chunk.fillValue);
    return { kind: "fixed", bytes, itemSize: this.#itemSize, shape: chunk.shape, strides };
  }
}

function bytesEach(itemSize: number): string {
  return `items of ${itemSize} bytes`;
}

export interface VariableAssemblyOptions {
  readonly chunk: ChunkSpec;
  readonly region: Region;
  readonly selection: Selection;
  readonly buffers: Buffers;
}

/** Items copied from one source piece: item `i` goes to position `places[i]` of the target chunk. */
interface Part {
  readonly bytes: Uint8Array;
  readonly lengths: Uint32Array;
  readonly places: Uint32Array;
}

/** A target chunk of items of varying size. Keeps a compact copy of each piece's items and merges them at the end. */
export class VariableAssembly implements Assembly {
  readonly #options: VariableAssemblyOptions;
  readonly #parts: Part[] = [];

  constructor(options: VariableAssemblyOptions) {
    this.#options = options;
  }

  add(piece: DecodedChunk, region: Region): void {
    if (piece.data === undefined) return;
    if (piece.data.kind !== "variable")
      throw otherItems(piece, "variable-size data", "items of a fixed size");
    const { buffers, chunk, selection } = this.#options;
    const { bytes, offsets, shape } = piece.data;
    const from = boxInPiece(piece, cStrides(shape), region, selection);
    const count = product(region.shape);
    const sources = new Uint32Array(count);
    const lengths = new Uint32Array(count);
    const places = new Uint32Array(count);
    let size = 0;
    let i = 0;
    for (const coords of coordsOf(region.shape)) {
      const source = coords.reduce((sum, c, d) => sum + c * (from.strides[d] ?? 0), from.offset);
      const place = coords.map((c, d) => c + (region.start[d] ?? 0) - (this.#options.region.start[d] ?? 0));
      sources[i] = source;
      places[i] = indexOf(place, chunk.shape);
      const length = (offsets[source + 1] ?? 0) - (offsets[source] ?? 0);
      lengths[i++] = length;
      size += length;
    }
    const compact = buffers.take(size);
    let end = 0;
    sources.forEach((source, n) => {
      const start = offsets[source] ?? 0;
      compact.set(bytes.subarray(start, start + (lengths[n] ?? 0)), end);
      end += lengths[n] ?? 0;
    });
    this.#parts.push({ bytes: compact, lengths, places });
  }

  finish(): VariableData | undefined {
    if (this.#parts.length === 0) return undefined;
    const { buffers, chunk } = this.#options;
    const fill = chunk.fillValue ?? new Uint8Array(0);
    const count = product(chunk.shape);
    const lengths = new Uint32Array(count).fill(fill.length);
    for (const part of this.#parts) {
      part.places.forEach((place, i) => {
        lengths[place] = part.lengths[i] ?? 0;
      });
    }

    const offsets = offsetsOf(lengths, tooLarge);
    const bytes = buffers.take(offsets[count] ?? 0);
    if (fill.length > 0) for (let i = 0; i < count; i++) bytes.set(fill.subarray(0, lengths[i]), offsets[i]);
    for (const part of this.#parts) {
      let start = 0;
      part.places.forEach((place, i) => {
        const length = part.lengths[i] ?? 0;
        bytes.set(part.bytes.subarray(start, start + length), offsets[place]);
        start += length;
      });
      buffers.give(part.bytes);
    }
    return { kind: "variable", bytes, offsets, shape: chunk.shape };
  }
}

function tooLarge(found: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "a chunk of variable-size items exceeds the limit of 2 GiB", {
    expected: MAX_CHUNK_SIZE,
    found,
    hint: "Choose smaller chunks.",
  });
}

/** A box of target items that is being filled. */
export interface OpenBox {
  readonly region: Region;
  readonly assembly: Assembly;
}

/**
 * The boxes of a grid that a piece touches. Consecutive pieces often touch the same boxes, so these are kept between
 * them: finding out what to copy takes longer than the copy.
 */
export class OpenChunks<B extends OpenBox> {
  readonly boxes: readonly B[];
  readonly #coords: Region;
  /** Targets of all boxes, for items of one size; undefined if the kernels cannot copy to all of them. */
  #targets: HeapBox | undefined;
  #itemSize = 0;

  /** @param coords the coords of the boxes in the grid */
  constructor(coords: Region, boxes: readonly B[]) {
    this.#coords = coords;
    this.boxes = boxes;
  }

  areAt({ start, shape }: Region): boolean {
    const own = this.#coords;
    return start.every((from, d) => from === own.start[d] && shape[d] === own.shape[d]);
  }

  /**
   * Copies the piece's `items` of the target to all boxes, in one call of the kernels.
   *
   * @returns false, with nothing copied, if the kernels cannot do it
   */
  addSync(piece: DecodedChunk, items: Region, selection: Selection): boolean {
    const { data } = piece;
    if (data?.kind !== "fixed") return false;
    const { bytes, strides, itemSize } = data;
    const source = heapBox(bytes, items, boxInPiece(piece, strides, items, selection), itemSize);
    if (source === undefined) return false;
    if (itemSize !== this.#itemSize) {
      this.#itemSize = itemSize;
      this.#targets = this.#findTargets(data, source.length);
    }
    if (this.#targets === undefined) return false;
    copyShared(source, this.#targets, itemSize);
    return true;
  }

  #findTargets(items: FixedData, length: number): HeapBox | undefined {
    const targets = new Float64Array(this.boxes.length * length);
    for (const [i, { assembly }] of this.boxes.entries()) {
      const target = assembly.boxFor?.(items);
      if (target === undefined) return undefined;
      targets.set(target, i * length);
    }
    return targets;
  }
}

/**
 * Adds to a box the `items` of a piece that belong to it.
 *
 * @returns the number of these items
 */
export function addShared({ region, assembly }: OpenBox, piece: DecodedChunk, items: Region): number {
  const shared = intersect(items, region);
  if (shared === undefined) return 0;
  assembly.add(piece, shared);
  return product(shared.shape);
}
