import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { ChunkSpec } from "../../codecs/codec.ts";
import { isFixed } from "../../meta/data-type.ts";
import { boxesTouching, headerSize, type Piece, pieceOf } from "../../plan/staged-windows.ts";
import { itemsOf, type ScratchTask, splitsOf } from "../../plan/task.ts";
import { type Assembly, addShared, OpenChunks } from "../../streams/assemble.ts";
import type { DecodedChunk, EncodedChunk, Region } from "../../streams/chunk.ts";
import { beginAssembly, chunksIn, chunksTouched, coordsIn } from "../../streams/regrid.ts";
import { intersect, type Selection, selectedRegions } from "../../streams/selection.ts";
import type { Stage } from "../../streams/stage.ts";
import type { Buffers } from "../../util/bytes.ts";
import { cStrides, indexOf, product } from "../../util/shape.ts";

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
  finish(
    pieces: readonly OpenPiece[],
    writePieceHeader: (header: Uint8Array, piece: Piece) => void,
  ): Uint8Array;
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
export const PIECE_ENTRY_SIZE = 8;

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
      const table = (pieces + 1) * PIECE_ENTRY_SIZE;
      const bytes = buffers.take(sizes.reduce((sum, size) => sum + size, table));
      const entries = new DataView(bytes.buffer, bytes.byteOffset, table);
      let end = table;
      open.forEach((piece, i) => {
        entries.setBigUint64(i * PIECE_ENTRY_SIZE, BigInt(end), true);
        const header = bytes.subarray(end, end + headerSize);
        const data = found[i];
        if (data) {
          writeHeader(header, piece);
          pack(data, bytes.subarray(end + headerSize));
          buffers.give(data.bytes);
        } else writeEmptyHeader(header);
        end += sizes[i] ?? 0;
      });
      entries.setBigUint64(pieces * PIECE_ENTRY_SIZE, BigInt(end), true);
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

/**
 * Sorts incoming chunks by the boxes of the next stage, and emits all of them as one scratch object when the stream
 * ends. The object is empty if all chunks were missing.
 */
export function gatherStage(task: ScratchTask, options: GatherOptions): Stage<DecodedChunk, EncodedChunk> {
  const { selection, buffers, chunk } = options;
  const { job, pass } = task;
  const box = itemsOf(task);
  const next = splitsOf(job, pass + 1);
  const boxes = product(box.shape) > 0 ? boxesTouching(box, next) : box;
  const layout = { box, pieces: product(boxes.shape), headerSize: headerSize(job, pass) };
  const object = isFixed(chunk.dataType)
    ? fixedObject(layout, chunk.dataType.size, options)
    : variableObject(layout, options);
  const open: OpenPiece[] = [];
  const present: Region[] = [];
  let someMissing = false;

  const pieceAt = (coords: readonly number[]): OpenPiece | undefined => {
    const ordinal = indexOf(
      coords.map((c, d) => c - (boxes.start[d] ?? 0)),
      boxes.shape,
    );
    const known = open[ordinal];
    if (known) return known;
    const piece = pieceOf(box, next, coords);
    if (piece) open[ordinal] = { ...piece, assembly: object.begin(piece) };
    return open[ordinal];
  };

  let touched: OpenChunks<OpenPiece> | undefined;
  const piecesTouching = (items: Region): OpenChunks<OpenPiece> => {
    const coords = boxesTouching(items, next);
    if (touched?.areAt(coords)) return touched;
    const pieces = [...coordsIn(coords)].flatMap((at) => pieceAt(at) ?? []);
    touched = new OpenChunks(coords, pieces);
    return touched;
  };

  const addToAll = (piece: DecodedChunk, items: Region) => {
    const pieces = piecesTouching(items);
    if (pieces.addSync(piece, items, selection)) return;
    for (const open of pieces.boxes) addShared(open, piece, items);
  };

  return {
    push(piece) {
      for (const selected of selectedRegions(selection, piece.region)) {
        const items = intersect(selected, box);
        if (items === undefined) continue;
        if (piece.data) present.push(items);
        else someMissing = true;
        addToAll(piece, items);
      }
      if (piece.data) buffers.give(piece.data.bytes);
      piece.release?.();
      return [];
    },
    end() {
      const ofSome = someMissing ? present : undefined;
      const bytes = object.finish(open, (header, { region }) =>
        writeHeader(header, region, job.target.chunkShape, ofSome),
      );
      return [{ index: 0, coords: task.coords, region: box, bytes }];
    },
  };
}

/**
 * The first byte of a piece's header says whether no data went into the piece, only data, or some of each. One bit then
 * follows for each target chunk that the piece touches, in C order: set if the chunk received data. A chunk without any
 * data stays missing.
 */
const NOTHING = 0;
const ALL = 1;
const SOME = 2;

/**
 * Writes the header of a piece.
 *
 * @param present regions of the box that came with data, if any came without; undefined if all data are present.
 */
export function writeHeader(
  header: Uint8Array,
  piece: Region,
  chunkShape: readonly number[],
  present: readonly Region[] | undefined,
): void {
  header.fill(0);
  header[0] = ALL;
  if (present === undefined) return;
  const chunks = chunksTouched(piece, chunkShape);
  let bits = 0;
  for (const region of present) {
    const shared = intersect(region, piece);
    for (const coords of shared ? chunksIn(shared, chunkShape) : []) {
      const { byte, bit } = placeOf(coords, chunks);
      const before = header[byte] ?? 0;
      if ((before & bit) === 0) bits++;
      header[byte] = before | bit;
    }
  }
  if (bits < product(chunks.shape)) header[0] = SOME;
}

export function writeEmptyHeader(header: Uint8Array): void {
  header.fill(0);
  header[0] = NOTHING;
}

/** The parts of a piece, each with a flag that is true if its data are present. */
export function* presentParts(
  header: Uint8Array,
  piece: Region,
  chunkShape: readonly number[],
): Generator<{ readonly region: Region; readonly isPresent: boolean }> {
  if (header[0] !== SOME) {
    yield { region: piece, isPresent: header[0] === ALL };
    return;
  }
  const chunks = chunksTouched(piece, chunkShape);
  for (const coords of chunksIn(piece, chunkShape)) {
    const start = coords.map((c, d) => c * (chunkShape[d] ?? 1));
    const region = intersect({ start, shape: chunkShape }, piece);
    const { byte, bit } = placeOf(coords, chunks);
    if (region) yield { region, isPresent: ((header[byte] ?? 0) & bit) !== 0 };
  }
}

function placeOf(coords: readonly number[], chunks: Region): { byte: number; bit: number } {
  const at = indexOf(
    coords.map((c, d) => c - (chunks.start[d] ?? 0)),
    chunks.shape,
  );
  return { byte: 1 + (at >>> 3), bit: 1 << (at & 7) };
}
