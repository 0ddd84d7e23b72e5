import type { Store, WritableStore } from "../../stores/store.ts";
import { assertVersion } from "../../stores/version.ts";
import { pooledSize } from "../../streams/buffer-pool.ts";
import { followSignals } from "../../util/abort.ts";
import type { Buffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";

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
    isRemote,
  }: {
    readonly size: number;
    readonly pieceBytes: number;
    readonly writerBytes: number;
    /** True if the source is remote. */
    readonly isRemote: boolean;
  },
): MoreMemory {
  const pieceCost = pooledSize(pieceBytes);
  const wanted = Math.min(MAX_PIECES, Math.ceil(size / pieceBytes)) - 1;
  const each = (isRemote ? pieceCost : 0) + writerBytes;
  const more = each === 0 ? 0 : Math.max(0, Math.min(wanted, Math.floor(free / each)));
  return { bytes: more * each, pieces: isRemote ? 1 + more : 1, writer: (1 + more) * writerBytes };
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

export interface ReadPiecesOptions {
  /** Size of the value, as listed or written. */
  readonly size: number;
  readonly pieceBytes: number;
  /** Pieces that may be held at a time. @default 1 */
  readonly pieces?: number | undefined;
  readonly buffers: Buffers;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads one value in pieces, in order. Each piece is valid until the next is requested. The following ones are read
 * ahead, all of the version that the first response names. An empty value is one empty piece.
 *
 * @throws `source-changed` if the value is gone, has another size, or is replaced between two pieces.
 */
export async function* readPieces(
  store: Store,
  key: string,
  { size, pieceBytes, pieces = 1, buffers, signal }: ReadPiecesOptions,
): AsyncGenerator<Uint8Array> {
  let ifVersion: string | undefined;
  const onVersion = (found: string) => {
    assertVersion({ ifVersion }, found);
    ifVersion = found;
  };
  const giveUp = new AbortController();
  const following = pieces > 1 ? followSignals(signal, giveUp.signal) : undefined;
  const read = async (offset: number): Promise<Uint8Array> => {
    const length = Math.min(pieceBytes, size - offset);
    const allocate = (found: number) => {
      if (found !== length) throw changed(key, length, found);
      return buffers.take(length);
    };
    const range = length < size ? { offset, length } : undefined;
    const versioned = range && (ifVersion === undefined ? { onVersion } : { ifVersion });
    const options = { range, allocate, signal: following?.signal ?? signal, ...versioned };
    const bytes = await store.get(key, options);
    if (bytes?.length !== length) throw changed(key, length, bytes?.length);
    return bytes;
  };
  const held: Promise<Uint8Array>[] = [];
  let asked = 0;
  const ask = () => {
    const piece = read(asked);
    piece.catch(() => {}); // reported where it is awaited
    held.push(piece);
    asked += pieceBytes;
  };
  try {
    for (ask(); held[0]; held.shift()) {
      while (held.length < pieces && asked < size) ask();
      const bytes = await held[0];
      yield bytes;
      buffers.give(bytes);
      if (pieces === 1 && asked < size) ask();
    }
  } finally {
    giveUp.abort();
    following?.end();
    for (const piece of held) await piece.then((bytes) => buffers.give(bytes)).catch(() => {});
  }
}

/** Error for a value that no longer has its listed size; `found` is undefined if it is gone. */
export function changed(key: string, expected: number | undefined, found: number | undefined): ZarrflowError {
  return new ZarrflowError("source-changed", "a value changed while it was copied", {
    key,
    expected: expected === undefined ? "a value" : `${expected} bytes`,
    found: found === undefined ? "nothing" : `${found} bytes`,
    hint: "Copy again while no other program writes to the source.",
  });
}

/**
 * Reads a whole value to the start of `into` with a blocking call; undefined if it is missing or cannot be read like
 * that.
 */
export function readInto(store: Store, key: string, into: Uint8Array): Uint8Array | undefined {
  return store.getSync?.(key, { into })?.bytes;
}
