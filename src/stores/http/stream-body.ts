import type { HttpBody } from "./http-response.ts";

/** Bytes of a body that are read at a time. */
const PIECE = 64 * 1024;

/** Buffers that bodies were read into, for others. */
const spare: ArrayBuffer[] = [];
const MAX_SPARE = 2;

/** The body that a stream brings. */
export function bodyOfStream(stream: ReadableStream<Uint8Array>): HttpBody {
  return {
    async read(take) {
      const reader = pieceReader(stream);
      try {
        for (;;) {
          const piece = await reader.read();
          if (piece === undefined || take(piece)) return;
        }
      } finally {
        await reader.end().catch(() => {}); // a body that failed has been reported already
      }
    },
    cancel: () => stream.cancel(),
  };
}

interface PieceReader {
  /** The next piece, which is valid until the next call; undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Cancels what is left. */
  end(): Promise<void>;
}

function pieceReader(stream: ReadableStream<Uint8Array>): PieceReader {
  const inPlace = readerInPlace(stream);
  if (inPlace) return reusing(inPlace);
  const reader = stream.getReader();
  return { read: async () => (await reader.read()).value, end: () => reader.cancel() };
}

/** A reader into buffers of ours, which only streams of bytes have, as those of `fetch` are in most browsers. */
function readerInPlace(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return stream.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError && !stream.locked) return undefined;
    throw error;
  }
}

/**
 * Reads all pieces into one buffer. Those that a browser makes for each piece stay until it next collects garbage,
 * which is after some 60 MB.
 */
function reusing(reader: ReadableStreamBYOBReader): PieceReader {
  let buffer = spare.pop() ?? new ArrayBuffer(PIECE);
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (value) buffer = value.buffer;
      return done ? undefined : value;
    },
    async end() {
      if (buffer.byteLength > 0 && spare.length < MAX_SPARE) spare.push(buffer); // one that a failed read took is empty
      await reader.cancel();
    },
  };
}
