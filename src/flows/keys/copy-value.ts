import type { Store, WritableStore } from "../../stores/store.ts";
import { pooledSize } from "../../streams/pooled-size.ts";
import { pieceMemory, type ReadPiecesOptions, readPieces } from "./read-pieces.ts";

/** Bytes that copying a value takes at a time. A value larger than a piece goes through a writer. */
export function copyMemory(size: number, pieceBytes: number, writerBytes: number): number {
  return pieceMemory(size, pieceBytes) + (size > pieceBytes ? writerBytes : 0);
}

/** Pieces of one value that are in flight at most, on either side. */
const MAX_PIECES = 16;

/** Memory that copying a large value can use beyond its minimum. */
export interface MoreMemory {
  /** Bytes in all. */
  readonly bytes: number;
  /** Pieces that are read concurrently. */
  readonly pieces: number;
  /** Bytes of the writer. */
  readonly writer: number;
}

/**
 * Uses of `free` bytes beyond `copyMemory`: writing several pieces concurrently, and reading several from remote
 * stores.
 */
export function moreMemory(
  free: number,
  {
    size,
    pieceBytes,
    writerBytes,
    isFar,
  }: {
    readonly size: number;
    readonly pieceBytes: number;
    readonly writerBytes: number;
    /** True if the source is remote. */
    readonly isFar: boolean;
  },
): MoreMemory {
  const pieceCost = pooledSize(pieceBytes);
  const wanted = Math.min(MAX_PIECES, Math.ceil(size / pieceBytes)) - 1;
  const each = (isFar ? pieceCost : 0) + writerBytes;
  const more = each === 0 ? 0 : Math.max(0, Math.min(wanted, Math.floor(free / each)));
  return { bytes: more * each, pieces: isFar ? 1 + more : 1, writer: (1 + more) * writerBytes };
}

export interface CopyValueOptions extends ReadPiecesOptions {
  /** Bytes that the writer of a value larger than a piece may hold. */
  readonly writerMemory?: number | undefined;
  /** Called with each piece in order, before it is written. */
  readonly onPiece: (bytes: Uint8Array) => void;
}

/**
 * Copies one value unchanged.
 *
 * @throws `source-changed` if it is gone or no longer has its listed size.
 */
export async function copyValue(
  from: { readonly store: Store; readonly key: string },
  to: { readonly store: WritableStore; readonly key: string },
  { onPiece, writerMemory, ...options }: CopyValueOptions,
): Promise<void> {
  const { size, pieceBytes, signal } = options;
  const pieces = readPieces(from.store, from.key, options);
  if (size <= pieceBytes) {
    for await (const bytes of pieces) {
      onPiece(bytes);
      await to.store.set(to.key, bytes, { signal });
    }
    return;
  }
  const writer = await to.store.openWriter(to.key, { memory: writerMemory, signal });
  try {
    for await (const bytes of pieces) {
      onPiece(bytes);
      await writer.write(bytes);
    }
    await writer.commit();
  } catch (error) {
    await writer.abort(error);
    throw error;
  }
}
