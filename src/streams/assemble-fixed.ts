import type { FixedData } from "../codecs/chunk-data.ts";
import type { ChunkSpec } from "../codecs/codec.ts";
import { fillItems } from "../codecs/filled-data.ts";
import { copyBox, fillBox } from "../codecs/kernels/copy-box.ts";
import { heapBox } from "../codecs/kernels/heap-box.ts";
import type { HeapBox } from "../codecs/kernels/kernel-types.ts";
import { isFixed } from "../meta/data-type.ts";
import type { Buffers } from "../util/buffers.ts";
import { product } from "../util/shape.ts";
import { type Assembly, otherItems } from "./assembly.ts";
import type { DecodedChunk, Region } from "./chunk.ts";
import { boxInPiece, type Selection } from "./selection.ts";

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
    if (piece.data.kind !== "fixed") throw otherItems(piece, bytesEach(this.#itemSize), "variable data");
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
