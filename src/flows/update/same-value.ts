import type { KeyEntry, Store } from "../../stores/store.ts";
import type { ByteBudget } from "../../streams/byte-budget.ts";
import type { Buffers } from "../../util/buffers.ts";
import { crc32 } from "../../util/crc32.ts";
import { builtin, isNode } from "../../util/platform.node.ts";
import { pieceBytesWithin, pieceMemory, readPieces } from "../keys/read-pieces.ts";
import { readInto } from "../keys/sync-fast-path.ts";

/** A value of a store, as a listing has it. */
export interface ListedValue {
  readonly store: Store;
  readonly listed: KeyEntry;
}

export interface SameValueOptions {
  readonly budget: ByteBudget;
  readonly buffers: Buffers;
  readonly signal?: AbortSignal | undefined;
}

/** An entity tag that is the MD5 of a value which was stored in one piece, unless it was encrypted with a key. */
const MD5 = /^[0-9a-f]{32}$/i;
/** An entity tag of a value that was stored in parts: equal ones are of equal parts. */
const MD5_OF_PARTS = /^[0-9a-f]{32}-\d+$/i;

/**
 * Whether two values are the same: by size, then by what listings say of their bytes, which saves reading one of them
 * or both; where neither decides it, byte for byte. Times are not looked at. A doubt means that they differ.
 *
 * @throws `source-changed` where one of them has another size than was listed.
 */
export async function sameValue(a: ListedValue, b: ListedValue, options: SameValueOptions): Promise<boolean> {
  const [size, other] = await Promise.all([sizeOf(a, options), sizeOf(b, options)]);
  if (size === undefined || size !== other) return false;
  const same = sameByListing(a.listed, b.listed);
  if (same !== undefined) return same;
  const reading = { ...options, size };
  for (const [known, read] of [
    [b, a],
    [a, b],
  ] as const) {
    const etag = known.listed.etag ?? "";
    if (MD5.test(etag) && isNode) return (await md5Of(read, reading)) === etag.toLowerCase();
  }
  for (const [known, read] of [
    [a, b],
    [b, a],
  ] as const) {
    if (known.listed.crc32 !== undefined) return (await crc32Of(read, reading)) === known.listed.crc32;
  }
  return sameBytes(a, b, reading);
}

/**
 * Whether two values are surely the same, as far as that is known without waiting: by their listings, or by reading what
 * these do not decide into two buffers. Where it is not known, ask {@link sameValue}.
 */
export function isSameSync(
  a: ListedValue,
  b: ListedValue,
  [left, right]: readonly [Uint8Array, Uint8Array],
): boolean {
  if (a.listed.size !== b.listed.size && a.listed.size !== undefined && b.listed.size !== undefined)
    return false;
  const same = sameByListing(a.listed, b.listed);
  if (same !== undefined) return same && a.listed.size !== undefined && b.listed.size !== undefined;
  if (a.listed.crc32 !== undefined) return hasChecksum(b, a.listed, right);
  if (b.listed.crc32 !== undefined) return hasChecksum(a, b.listed, left);
  const ours = readInto(a.store, a.listed.key, left);
  const theirs = ours && readInto(b.store, b.listed.key, right);
  return ours !== undefined && theirs !== undefined && equal(ours, theirs);
}

function hasChecksum({ store, listed }: ListedValue, expected: KeyEntry, into: Uint8Array): boolean {
  const bytes = readInto(store, listed.key, into);
  return bytes !== undefined && bytes.length === expected.size && crc32(bytes) === expected.crc32;
}

/** What both listings say; undefined where they say nothing that can be compared. */
function sameByListing(a: KeyEntry, b: KeyEntry): boolean | undefined {
  if (a.crc32 !== undefined && b.crc32 !== undefined) return a.crc32 === b.crc32;
  if (a.etag === undefined || b.etag === undefined) return undefined;
  const isKnown = [MD5, MD5_OF_PARTS].some((form) => form.test(a.etag ?? "") && form.test(b.etag ?? ""));
  return isKnown ? a.etag.toLowerCase() === b.etag.toLowerCase() : undefined;
}

function sizeOf({ store, listed }: ListedValue, options: SameValueOptions): Promise<number | undefined> {
  return listed.size === undefined ? store.size(listed.key, options) : Promise.resolve(listed.size);
}

interface Reading extends SameValueOptions {
  readonly size: number;
}

function crc32Of(value: ListedValue, reading: Reading): Promise<number> {
  return withPieces([value], reading, async ([pieces = nothing()]) => {
    let checksum = 0;
    for await (const bytes of pieces) checksum = crc32(bytes, checksum);
    return checksum;
  });
}

function md5Of(value: ListedValue, reading: Reading): Promise<string> {
  return withPieces([value], reading, async ([pieces = nothing()]) => {
    const hash = builtin("node:crypto")?.createHash("md5");
    for await (const bytes of pieces) hash?.update(bytes);
    return hash?.digest("hex") ?? "";
  });
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function sameBytes(a: ListedValue, b: ListedValue, reading: Reading): Promise<boolean> {
  return withPieces([a, b], reading, async ([left = nothing(), right = nothing()]) => {
    try {
      for await (const bytes of left) {
        const { value } = await right.next();
        if (value === undefined || !equal(bytes, value)) return false;
      }
      return true;
    } finally {
      await right.return(undefined);
    }
  });
}

type Pieces = AsyncGenerator<Uint8Array>;

/** The part of the budget that one comparison may take, so that it never waits on what copies hold. */
const MAX_TAKEN = 1 / 4;

/** Reads values piece by piece, all at once, under a lease for what that takes. */
async function withPieces<T>(
  values: readonly ListedValue[],
  { budget, buffers, size, signal }: Reading,
  use: (pieces: readonly Pieces[]) => Promise<T>,
): Promise<T> {
  const pieceBytes = pieceBytesWithin(Math.floor((budget.limit * MAX_TAKEN) / values.length));
  const lease = await budget.acquire(values.length * pieceMemory(size, pieceBytes), signal);
  try {
    return await use(
      values.map(({ store, listed }) => readPieces(store, listed.key, { size, pieceBytes, buffers, signal })),
    );
  } finally {
    lease.release();
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
