import type { Store, WritableStore } from "../../stores/store.ts";
import { pieceMemory, type ReadPiecesOptions, readPieces } from "./read-pieces.ts";

/** Bytes that copying a value takes at one time: one larger than a piece goes through a writer. */
export function copyMemory(size: number, pieceBytes: number, writerBytes: number): number {
  return pieceMemory(size, pieceBytes) + (size > pieceBytes ? writerBytes : 0);
}

export interface CopyValueOptions extends ReadPiecesOptions {
  /** Called with each piece in order, before it is written. */
  readonly onPiece: (bytes: Uint8Array) => void;
}

/**
 * Copies one value as it is.
 *
 * @throws `source-changed` when it is gone or has another size than it was listed with.
 */
export async function copyValue(
  from: { readonly store: Store; readonly key: string },
  to: { readonly store: WritableStore; readonly key: string },
  { onPiece, ...options }: CopyValueOptions,
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
  const writer = await to.store.openWriter(to.key, { signal });
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
