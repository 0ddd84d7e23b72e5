import { offsetsOf } from "../codecs/array-to-bytes/item-offsets.ts";
import type { VariableData } from "../codecs/chunk-data.ts";
import type { ChunkSpec } from "../codecs/codec.ts";
import { MAX_CHUNK_SIZE } from "../codecs/limits.ts";
import type { Buffers } from "../util/buffers.ts";
import { ZarrflowError } from "../util/errors.ts";
import { coordsOf, cStrides, indexOf, product } from "../util/shape.ts";
import { type Assembly, otherItems } from "./assembly.ts";
import type { DecodedChunk, Region } from "./chunk.ts";
import { boxInPiece, type Selection } from "./selection.ts";

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
    if (piece.data.kind !== "variable") throw otherItems(piece, "variable data", "items of a fixed size");
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
  return new ZarrflowError("resource-limit", "a chunk of variable data is above the limit of 2 GiB", {
    expected: MAX_CHUNK_SIZE,
    found,
    hint: "Choose smaller chunks.",
  });
}
