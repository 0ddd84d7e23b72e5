import { pieceBytesWithin, pieceMemory } from "../../plan/memory.ts";
import { readInto, readPieces } from "../../run/keys/copy-value.ts";
import type { KeyEntry, Store } from "../../stores/store.ts";
import type { ByteBudget } from "../../streams/byte-budget.ts";
import { type Buffers, bytesEqual } from "../../util/bytes.ts";
import { crc32 } from "../../util/crc32.ts";
import { builtin, isNode } from "../../util/platform.node.ts";

/** A value of a store, and its entry in a listing. */
export interface ListedValue {
  readonly store: Store;
  readonly listed: KeyEntry;
}

export interface SameValueOptions {
  readonly budget: ByteBudget;
  readonly buffers: Buffers;
  readonly signal?: AbortSignal | undefined;
}

/** Entity tag that is the MD5 of a value stored in one piece, unless it was encrypted with a key. */
const MD5 = /^[0-9a-f]{32}$/i;
/** Entity tag of a value stored in parts; equal tags have equal parts. */
const MD5_OF_PARTS = /^[0-9a-f]{32}-\d+$/i;

/**
 * Returns true if two values are the same. Compares sizes first, then checksums in the listings, which saves reading
 * one or both values, and finally bytes. Times are ignored. In doubt, values count as different.
 *
 * @throws `source-changed` if a value no longer has its listed size.
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
 * Returns true if two values are certainly the same, without waiting: by their listings, or by reading both into two
 * buffers. False does not mean that they differ; then call {@link sameValue}.
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
  return ours !== undefined && theirs !== undefined && bytesEqual(ours, theirs);
}

function hasChecksum({ store, listed }: ListedValue, expected: KeyEntry, into: Uint8Array): boolean {
  const bytes = readInto(store, listed.key, into);
  return bytes !== undefined && bytes.length === expected.size && crc32(bytes) === expected.crc32;
}

/** Compares the checksums in both listings; undefined if they are not comparable. */
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
        if (value === undefined || !bytesEqual(bytes, value)) return false;
      }
      return true;
    } finally {
      await right.return(undefined);
    }
  });
}

type Pieces = AsyncGenerator<Uint8Array>;

/** Part of the budget that one comparison may take, so that it never waits for memory that copies hold. */
const MAX_TAKEN = 1 / 4;

/** Reads several values concurrently in pieces, under one lease for their buffers. */
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
