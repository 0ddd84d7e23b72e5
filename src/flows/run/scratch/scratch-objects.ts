import type { ChunkData } from "../../../codecs/chunk-data.ts";
import type { ChunkSpec } from "../../../codecs/codec.ts";
import type { Assembly } from "../../../streams/assembly.ts";
import type { Region } from "../../../streams/chunk.ts";
import { beginAssembly } from "../../../streams/regrid.ts";
import type { Selection } from "../../../streams/selection.ts";
import type { Buffers } from "../../../util/buffers.ts";
import { cStrides, product } from "../../../util/shape.ts";
import type { Piece } from "../../plan/scratch-layout.ts";
import { writeEmptyHeader } from "./piece-header.ts";

export interface GatherOptions {
  /** What a target chunk is. */
  readonly chunk: ChunkSpec;
  /** What of that which comes are the items of the target. */
  readonly selection: Selection;
  readonly buffers: Buffers;
}

export interface ObjectLayout {
  readonly box: Region;
  /** How many pieces there are. */
  readonly pieces: number;
  /** Bytes in front of each piece. */
  readonly headerSize: number;
}

/** A piece of which some items have come. */
export interface OpenPiece extends Piece {
  readonly assembly: Assembly;
}

/** A scratch object while items come to it. */
export interface ScratchObject {
  begin(piece: Piece): Assembly;
  /** Its bytes; none where no data came. */
  finish(pieces: readonly OpenPiece[], writeHeader: (header: Uint8Array, piece: Piece) => void): Uint8Array;
}

/** Items of one size: each piece begins at a place that can be computed, and its items are put there at once. */
export function fixedObject(layout: ObjectLayout, itemSize: number, options: GatherOptions): ScratchObject {
  const { box, pieces, headerSize } = layout;
  const { buffers } = options;
  const bytes = buffers.take(pieces * headerSize + product(box.shape) * itemSize);
  const headerAt = ({ ordinal, itemsBefore }: Piece) => ordinal * headerSize + itemsBefore * itemSize;
  return {
    begin(piece) {
      const start = headerAt(piece) + headerSize;
      const inObject = {
        take: (length: number) => bytes.subarray(start, start + length),
        give: () => {},
      };
      return begun(piece, options, inObject);
    },
    finish(open, writeHeader) {
      let isEmpty = true;
      for (const piece of open) {
        const header = bytes.subarray(headerAt(piece), headerAt(piece) + headerSize);
        if (piece.assembly.finish() === undefined) writeEmptyHeader(header);
        else {
          isEmpty = false;
          writeHeader(header, piece);
        }
      }
      if (!isEmpty) return bytes;
      buffers.give(bytes);
      return new Uint8Array(0);
    },
  };
}

/** Bytes of an entry of the table in front of pieces of variable data: where each begins, and where the last one ends. */
export const ENTRY_SIZE = 8;

/**
 * Items of varying size: a table of where each piece begins, as 64-bit little-endian numbers; then the pieces, each as
 * its header, the offsets of its items as 32-bit numbers, and their bytes.
 */
export function variableObject(layout: ObjectLayout, options: GatherOptions): ScratchObject {
  const { pieces, headerSize } = layout;
  const { buffers } = options;
  return {
    begin: (piece) => begun(piece, options, buffers),
    finish(open, writeHeader) {
      const found = open.map(({ assembly }) => assembly.finish());
      if (found.every((data) => data === undefined)) return new Uint8Array(0);
      const sizes = found.map((data) => headerSize + (data ? packedSize(data) : 0));
      const table = (pieces + 1) * ENTRY_SIZE;
      const bytes = buffers.take(sizes.reduce((sum, size) => sum + size, table));
      const entries = new DataView(bytes.buffer, bytes.byteOffset, table);
      let end = table;
      open.forEach((piece, i) => {
        entries.setBigUint64(i * ENTRY_SIZE, BigInt(end), true);
        const header = bytes.subarray(end, end + headerSize);
        const data = found[i];
        if (data) {
          writeHeader(header, piece);
          pack(data, bytes.subarray(end + headerSize));
          buffers.give(data.bytes);
        } else writeEmptyHeader(header);
        end += sizes[i] ?? 0;
      });
      entries.setBigUint64(pieces * ENTRY_SIZE, BigInt(end), true);
      return bytes;
    },
  };
}

function begun({ region }: Piece, { chunk, selection }: GatherOptions, buffers: Buffers): Assembly {
  const spec = { ...chunk, shape: region.shape };
  return beginAssembly({ chunk: spec, strides: cStrides(region.shape) }, region, { selection, buffers });
}

function packedSize(data: ChunkData): number {
  return data.bytes.length + (data.kind === "variable" ? data.offsets.byteLength : 0);
}

function pack(data: ChunkData, target: Uint8Array): void {
  const offsets =
    data.kind === "variable"
      ? new Uint8Array(data.offsets.buffer, data.offsets.byteOffset, data.offsets.byteLength)
      : new Uint8Array(0);
  target.set(offsets);
  target.set(data.bytes, offsets.length);
}
