import { joinBytes } from "../../util/buffers.ts";
import type { ByteRange } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { connectionFailure } from "./http-failure.ts";
import type { HttpBody, HttpResponse, TakePiece } from "./http-response.ts";

/** The part of a body that is wanted. */
export interface BodyPart {
  /** Bytes in front of it, which are thrown away. */
  readonly skip: number;
  readonly length: number;
}

/** The most that is read of a body of unknown length, where the caller says nothing. */
const LONGEST_BODY = 2 ** 31 - 1;

/**
 * Reads a part of a body and cancels the rest.
 *
 * @throws `short-read` when the body ends before the part does; `resource-limit` where there is no memory for it.
 */
export async function readBody(
  body: HttpBody | null,
  { skip, length }: BodyPart,
  allocate: (byteLength: number) => Uint8Array,
): Promise<Uint8Array> {
  return fill(body, skip, await taken(body, length, allocate));
}

/**
 * Reads the range of a body whose length nobody states, cut at its end, and cancels the rest. No more is held than what is
 * asked for.
 *
 * @param most bytes that the caller can use.
 * @throws `resource-limit` when there are more.
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

/** Bytes of a body, none of which is kept. */
export async function countBytes(body: HttpBody | null): Promise<number> {
  let size = 0;
  await readFrom(body, 0, (piece) => {
    size += piece.length;
    return false;
  });
  return size;
}

/** The buffer for what a server says will come, which may be more than there can be. */
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
 * Reads a body of text, of which there may be `most` bytes.
 *
 * @throws `resource-limit` when there are more; `transient` when it breaks off.
 */
export async function readText({ body }: Pick<HttpResponse, "body">, most: number): Promise<string> {
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

/** Reads a body without its first `skip` bytes; what is not taken is cancelled. */
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
