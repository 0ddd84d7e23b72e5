import { OwnReadableStream, type ReadableStream } from "../../util/web-streams.ts";

/** Bytes of the smallest body that is sent in pieces, and of these. */
const LEAST_BYTES = 2 ** 20;
const PIECE_BYTES = 256 * 1024;

const isNode = globalThis.process?.versions?.node !== undefined;

/** Whether a body is worth it, and the runtime knows how. */
export function isSentInPieces(body: Uint8Array | string | undefined): boolean {
  return isNode && body instanceof Uint8Array && body.length >= LEAST_BYTES;
}

/**
 * As `fetch` of a large body. Node's own copies the bytes twice, the second time for a redirection, and leaves both to
 * the garbage collector: parts of 8 MiB take it 100 MB. In pieces they are sent as they are, with 30 MB, and no
 * redirection is followed.
 */
export const fetchInPieces: typeof globalThis.fetch = (url, init) => {
  const body = init?.body as Uint8Array;
  const headers = new Headers(init?.headers);
  headers.set("content-length", String(body.length));
  const sent = { ...init, headers, body: piecesOf(body), duplex: "half", redirect: "error", window: null };
  return globalThis.fetch(url, sent as RequestInit);
};

function piecesOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new OwnReadableStream(
    {
      pull(controller) {
        controller.enqueue(bytes.subarray(at, at + PIECE_BYTES));
        at += PIECE_BYTES;
        if (at >= bytes.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
