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
  /** Specification of a target chunk. */
  readonly chunk: ChunkSpec;
  /** Part of the incoming data that becomes items of the target. */
  readonly selection: Selection;
  readonly buffers: Buffers;
}

export interface ObjectLayout {
  readonly box: Region;
  /** Number of pieces. */
  readonly pieces: number;
  /** Header bytes in front of each piece. */
  readonly headerSize: number;
}

/** A piece that has received some of its items. */
export interface OpenPiece extends Piece {
  readonly assembly: Assembly;
}

/** A scratch object under construction. */
export interface ScratchObject {
  begin(piece: Piece): Assembly;
  /** Returns the bytes of the object; none if no data arrived. */
  finish(pieces: readonly OpenPiece[], writeHeader: (header: Uint8Array, piece: Piece) => void): Uint8Array;
}

/** Builds an object of items of one size. The start of each piece can be computed, so items are placed directly. */
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

/**
 * Bytes of an entry of the table in front of pieces of variable size. Entries give the start of each piece and the end
 * of the last.
 */
export const ENTRY_SIZE = 8;

/**
 * Builds an object of items of varying size. A table of the piece offsets, as 64-bit little-endian numbers, precedes
 * the pieces. Each piece consists of its header, the offsets of its items as 32-bit numbers, and their bytes.
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
