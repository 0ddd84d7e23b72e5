import { platformSignal } from "../../util/abort.ts";
import type { Fetch } from "../../util/platform-types.ts";
import { files } from "../files.node.ts";
import { ownFetch } from "../remote/private-access.ts";
import type { HttpBody, PlainFetch } from "./http-response.ts";

/** Adapts `fetch`, of the platform or of a program, to the part of it that is used. */
export function plainFetch(fetch: Fetch): PlainFetch {
  return async (url, { signal: end, ...init }) => {
    const signal = platformSignal(end);
    const request = { ...init, ...(signal && { signal }) } as RequestInit;
    const { ok, status, statusText, headers, type, body } = await fetch(url, request);
    return { ok, status, statusText, headers, type, body: body && bodyOfStream(body) };
  };
}

/** Symbols under which Node's `fetch` keeps its dispatcher, once `fetch` is used or a program sets one. */
const DISPATCHER = Symbol.for("undici.globalDispatcher.2");
const OLD_DISPATCHER = Symbol.for("undici.globalDispatcher.1");

const globalFetch = plainFetch((...request) => globalThis.fetch(...request));

let fetchByHttp: PlainFetch | undefined;

/** Calls `fetch`, or a faster equivalent if the program has not configured how requests are made. */
export const fetchOfRuntime: PlainFetch = async (url, init) => {
  if (!files || globalThis.fetch !== ownFetch || hasOwnDispatcher()) return globalFetch(url, init);
  fetchByHttp ??= (await files.fetch()).fetchByHttp; // `import()` takes a tenth of a request even if it is loaded
  return fetchByHttp(url, init);
};

/** True if `fetch` was given a proxy or another dispatcher. */
function hasOwnDispatcher(): boolean {
  // Node 26 sets version 2, and a wrapper of it as version 1 for older code.
  const inForce = Reflect.get(globalThis, DISPATCHER) ?? Reflect.get(globalThis, OLD_DISPATCHER);
  return inForce !== undefined && inForce.constructor.name !== "Agent";
}

/** Bytes of a body that are read at a time. */
const PIECE = 64 * 1024;

/** Buffers that bodies were read into, for reuse. */
const spare: ArrayBuffer[] = [];
const MAX_SPARE = 2;

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
        await reader.end().catch(() => {}); // a failed body has been reported already
      }
    },
    cancel: () => stream.cancel(),
  };
}

interface PieceReader {
  /** Returns the next piece, which is valid until the next call; undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  end(): Promise<void>;
}

function pieceReader(stream: ReadableStream<Uint8Array>): PieceReader {
  const inPlace = readerInPlace(stream);
  if (inPlace) return reusing(inPlace);
  const reader = stream.getReader();
  return { read: async () => (await reader.read()).value, end: () => reader.cancel() };
}

/** Returns a reader into our own buffers. Only byte streams have one, such as `fetch` bodies in most browsers. */
function readerInPlace(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return stream.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError && !stream.locked) return undefined;
    throw error;
  }
}

/**
 * Reads all pieces into one buffer. A browser would allocate one for each piece, and collect them only after some
 * 60 MB.
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
      if (buffer.byteLength > 0 && spare.length < MAX_SPARE) spare.push(buffer); // a failed read leaves an empty buffer
      await reader.cancel();
    },
  };
}
