import type { ByteRange } from "../../util/byte-range.ts";
import { joinBytes } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { connectionFailure, type HttpBody, type HttpResponse, type TakePiece } from "./http-response.ts";

/** The part of a body to read. */
export interface BodyPart {
  /** Bytes before that part, which are discarded. */
  readonly skip: number;
  readonly length: number;
}

/** Maximum number of bytes read from a body of unknown length, if the caller sets no limit. */
const LONGEST_BODY = 2 ** 31 - 1;

/**
 * Reads a part of a body and cancels the rest.
 *
 * @throws `short-read` if the body ends before the part does; `resource-limit` if there is not enough memory.
 */
export async function readBody(
  body: HttpBody | null,
  { skip, length }: BodyPart,
  allocate: (byteLength: number) => Uint8Array,
): Promise<Uint8Array> {
  return fill(body, skip, await taken(body, length, allocate));
}

/**
 * Reads a range of a body of unknown length, cut at its end, and cancels the rest. Holds no more than the range in
 * memory.
 *
 * @param most bytes that the caller can use.
 * @throws `resource-limit` if there are more.
 */
export async function readUnstated(
  body: HttpBody | null,
  range: ByteRange,
  allocate: (byteLength: number) => Uint8Array,
  most = LONGEST_BODY,
): Promise<Uint8Array> {
  if ("suffix" in range) return joinBytes(await lastBytes(body, range.suffix), allocate);
  const { offset, length } = range;
  if (length === undefined || length > most) return joinBytes(await collect(body, offset, most), allocate);
  return joinBytes(await firstBytes(body, offset, length), allocate);
}

/** Counts the bytes of a body without keeping them. */
export async function countBytes(body: HttpBody | null): Promise<number> {
  let size = 0;
  await readFrom(body, 0, (piece) => {
    size += piece.length;
    return false;
  });
  return size;
}

/** Allocates the buffer for the stated length, which may exceed the memory. */
async function taken(
  body: HttpBody | null,
  length: number,
  allocate: (byteLength: number) => Uint8Array,
): Promise<Uint8Array> {
  try {
    return allocate(length);
  } catch (error) {
    await body?.cancel();
    if (!(error instanceof RangeError)) throw error;
    throw new ZarrflowError("resource-limit", "the response is larger than memory", { found: length });
  }
}

/**
 * Reads a text body of at most `most` bytes.
 *
 * @throws `resource-limit` if there are more; `transient` if it breaks off.
 */
export async function readBodyText({ body }: Pick<HttpResponse, "body">, most: number): Promise<string> {
  if (body === null) return "";
  return new TextDecoder().decode(joinBytes(await collect(body, 0, most)));
}

async function fill(body: HttpBody | null, skip: number, target: Uint8Array): Promise<Uint8Array> {
  let filled = 0;
  if (target.length === 0) await body?.cancel();
  else {
    await readFrom(body, skip, (piece) => {
      const wanted = piece.subarray(0, target.length - filled);
      target.set(wanted, filled);
      filled += wanted.length;
      return filled === target.length;
    });
  }
  if (filled === target.length) return target;
  throw new ZarrflowError("short-read", "the response is shorter than expected", {
    expected: skip + target.length,
    found: skip + filled,
  });
}

async function firstBytes(body: HttpBody | null, skip: number, length: number): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  let left = length;
  await readFrom(body, skip, (piece) => {
    pieces.push(piece.slice(0, left));
    left -= Math.min(left, piece.length);
    return left === 0;
  });
  return pieces;
}

async function lastBytes(body: HttpBody | null, length: number): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  let surplus = -length;
  await readFrom(body, 0, (piece) => {
    pieces.push(piece.slice());
    surplus += piece.length;
    for (let [first] = pieces; first && surplus >= first.length; [first] = pieces) {
      surplus -= first.length;
      pieces.shift();
    }
    return false;
  });
  const [first, ...others] = pieces;
  return first ? [first.subarray(Math.max(0, surplus)), ...others] : [];
}

async function collect(body: HttpBody | null, skip: number, most: number): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  await readFrom(body, skip, (piece) => {
    pieces.push(piece.slice());
    size += piece.length;
    if (size <= most) return false;
    throw new ZarrflowError("resource-limit", "the response is too large", {
      expected: `at most ${most} bytes`,
    });
  });
  return pieces;
}

/** Reads a body without its first `skip` bytes, and cancels the rest when `take` has enough. */
async function readFrom(body: HttpBody | null, skip: number, take: TakePiece): Promise<void> {
  let left = skip;
  try {
    await body?.read((piece) => {
      const wanted = piece.subarray(Math.min(left, piece.length));
      left -= piece.length - wanted.length;
      return wanted.length > 0 && take(wanted);
    });
  } catch (error) {
    throw connectionFailure(error);
  }
}
