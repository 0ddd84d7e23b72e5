import type { ChunkData } from "../../../codecs/chunk-data.ts";
import type { ChunkSpec } from "../../../codecs/codec.ts";
import type { Assembly } from "../../../streams/assembly.ts";
import type { Region } from "../../../streams/chunk.ts";
import { beginAssembly } from "../../../streams/regrid.ts";
import type { Selection } from "../../../streams/selection.ts";
import type { Buffers } from "../../../util/buffers.ts";
import { cStrides, product } from "../../../util/shape.ts";
import type { Piece } from "../../plan/scratch-layout.ts";
import { writeEmptyHead } from "./piece-header.ts";

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
  readonly headSize: number;
}

/** A piece of which some items have come. */
export interface OpenPiece extends Piece {
  readonly assembly: Assembly;
}

/** A scratch object while items come to it. */
export interface ScratchObject {
  begin(piece: Piece): Assembly;
  /** Its bytes; none where no data came. */
  finish(pieces: readonly OpenPiece[], writeHead: (head: Uint8Array, piece: Piece) => void): Uint8Array;
}

/** Items of one size: each piece begins at a place that can be computed, and its items are put there at once. */
export function fixedObject(layout: ObjectLayout, itemSize: number, options: GatherOptions): ScratchObject {
  const { box, pieces, headSize } = layout;
  const { buffers } = options;
  const bytes = buffers.take(pieces * headSize + product(box.shape) * itemSize);
  const headAt = ({ ordinal, itemsBefore }: Piece) => ordinal * headSize + itemsBefore * itemSize;
  return {
    begin(piece) {
      const start = headAt(piece) + headSize;
      const inObject = {
        take: (length: number) => bytes.subarray(start, start + length),
        give: () => {},
      };
      return begun(piece, options, inObject);
    },
    finish(open, writeHead) {
      let isEmpty = true;
      for (const piece of open) {
        const head = bytes.subarray(headAt(piece), headAt(piece) + headSize);
        if (piece.assembly.finish() === undefined) writeEmptyHead(head);
        else {
          isEmpty = false;
          writeHead(head, piece);
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
 * its head, the offsets of its items as 32-bit numbers, and their bytes.
 */
export function variableObject(layout: ObjectLayout, options: GatherOptions): ScratchObject {
  const { pieces, headSize } = layout;
  const { buffers } = options;
  return {
    begin: (piece) => begun(piece, options, buffers),
    finish(open, writeHead) {
      const found = open.map(({ assembly }) => assembly.finish());
      if (found.every((data) => data === undefined)) return new Uint8Array(0);
      const sizes = found.map((data) => headSize + (data ? packedSize(data) : 0));
      const table = (pieces + 1) * ENTRY_SIZE;
      const bytes = buffers.take(sizes.reduce((sum, size) => sum + size, table));
      const entries = new DataView(bytes.buffer, bytes.byteOffset, table);
      let end = table;
      open.forEach((piece, i) => {
        entries.setBigUint64(i * ENTRY_SIZE, BigInt(end), true);
        const head = bytes.subarray(end, end + headSize);
        const data = found[i];
        if (data) {
          writeHead(head, piece);
          pack(data, bytes.subarray(end + headSize));
          buffers.give(data.bytes);
        } else writeEmptyHead(head);
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
