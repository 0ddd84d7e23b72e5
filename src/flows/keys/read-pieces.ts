import type { Store } from "../../stores/store.ts";
import { assertVersion } from "../../stores/version.ts";
import { largestPooled, pooledSize } from "../../streams/pooled-size.ts";
import { followSignals } from "../../util/abort.ts";
import type { Buffers } from "../../util/buffers.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** Larger values are read in pieces of this size. */
const PIECE_BYTES = 8 * 2 ** 20;

/** Piece size for a budget, at least the smallest pooled buffer. */
export function pieceBytesWithin(maxMemory: number): number {
  return Math.min(PIECE_BYTES, Math.max(pooledSize(1), largestPooled(maxMemory)));
}

/** Bytes of the pooled buffer for reading a value of `size` bytes. */
export function pieceMemory(size: number, pieceBytes: number): number {
  return pooledSize(Math.min(size, pieceBytes));
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
    hint: "Copy again when no other program writes the source.",
  });
}
