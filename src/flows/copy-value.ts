import type { Store, WritableStore } from "../stores/store.ts";
import type { Buffers } from "../util/buffers.ts";
import { ZarrflowError } from "../util/errors.ts";

/** A value larger than this is copied in pieces of this size, never held whole. */
export const PIECE_BYTES = 8 * 2 ** 20;

export interface CopyValueOptions {
  readonly size: number;
  readonly buffers: Buffers;
  readonly signal?: AbortSignal | undefined;
  /** Called with each piece in order, before it is given back. */
  readonly onPiece: (bytes: Uint8Array) => void;
}

/**
 * Copies one value of `size` bytes as it is.
 *
 * @throws `source-changed` when it is gone or has another size than it was listed with.
 */
export async function copyValue(
  from: { readonly store: Store; readonly key: string },
  to: { readonly store: WritableStore; readonly key: string },
  { size, buffers, signal, onPiece }: CopyValueOptions,
): Promise<void> {
  const allocate = (byteLength: number) => buffers.take(byteLength);
  const read = async (offset: number, length: number) => {
    const range = length < size ? { offset, length } : undefined;
    const bytes = await from.store.get(from.key, { range, allocate, signal });
    if (bytes?.length !== length) throw changed(from.key, length, bytes?.length);
    onPiece(bytes);
    return bytes;
  };
  if (size <= PIECE_BYTES) {
    const bytes = await read(0, size);
    try {
      await to.store.set(to.key, bytes, { signal });
    } finally {
      buffers.give(bytes);
    }
    return;
  }
  const writer = await to.store.openWriter(to.key, { signal });
  try {
    for (let offset = 0; offset < size; offset += PIECE_BYTES) {
      const bytes = await read(offset, Math.min(PIECE_BYTES, size - offset));
      await writer.write(bytes);
      buffers.give(bytes);
    }
    await writer.commit();
  } catch (error) {
    await writer.abort(error);
    throw error;
  }
}

function changed(key: string, expected: number, found: number | undefined): ZarrflowError {
  return new ZarrflowError("source-changed", "a value changed while it was copied", {
    key,
    expected: `${expected} bytes`,
    found: found === undefined ? "nothing" : `${found} bytes`,
    hint: "copy again when nobody writes the source",
  });
}
