// @module-tag slow
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { openArray, rechunk, slice } from "../../src/index.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { buildZip, type EntryDraft } from "../stores/zip/build-zip.ts";
import { withBucket } from "../support/s3-environment.ts";

const CHUNKS = 512;
const ITEMS = 4 * 1024;
const GRID = { shape: [CHUNKS, ITEMS], chunks: [1, ITEMS] };
const STORED = { dtype: "<i4", compressor: null, fill_value: 0, order: "C", filters: null };
const ZARRAY = new TextEncoder().encode(JSON.stringify({ zarr_format: 2, ...GRID, ...STORED }));
const CHUNK_BYTES = 4 * ITEMS;

const values = Int32Array.from({ length: CHUNKS * ITEMS }, (_, i) => 1 + i);
const chunk = (row: number) => new Uint8Array(values.buffer, row * CHUNK_BYTES, CHUNK_BYTES);

/** An array of 512 chunks of 16 KiB; its entries lie in an order of their own, or in that of the chunks. */
function archive(
  change: (entry: EntryDraft, row: number) => EntryDraft | undefined = (entry) => entry,
  stride = 37,
) {
  const rows = Array.from({ length: CHUNKS }, (_, i) => (i * stride) % CHUNKS);
  return buildZip([
    { name: ".zarray", value: ZARRAY },
    ...rows.flatMap((row) => change({ name: `${row}.0`, value: chunk(row) }, row) ?? []),
  ]);
}

/** Rows that are not right in a whole array. */
async function wrongRows(
  of: Parameters<typeof slice>[0],
  expected: (row: number) => Uint8Array = chunk,
): Promise<readonly number[]> {
  const read = await buffer(slice(of).bytes());
  expect(read.length).toBe(CHUNKS * CHUNK_BYTES);
  const readOf = (row: number) => read.subarray(row * CHUNK_BYTES, (row + 1) * CHUNK_BYTES);
  const rows = Array.from({ length: CHUNKS }, (_, row) => row);
  return rows.filter((row) => Buffer.compare(expected(row), readOf(row)) !== 0);
}

async function withZip(
  zip: Uint8Array,
  run: (url: string, server: ValueServer) => Promise<void>,
): Promise<void> {
  const server = await serveValues(new Map([["x.zarr.zip", zip]]));
  await run(`${server.url}/x.zarr.zip`, server).finally(() => server.close());
}

function rangeBytes(range: unknown): number {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(range)) ?? [];
  return first === undefined ? 0 : Number(last) - Number(first) + 1;
}

type Seen = { readonly headers: { readonly range?: string | undefined } };

/** On a machine that is busy some ranges are late, and asked for again: these count once. */
function expectFew(requests: readonly Seen[], wanted: number): void {
  const sizes = [...new Set(requests.map(({ headers }) => headers.range))].map(rangeBytes);
  const bytes = sizes.reduce((sum, size) => sum + size);
  expect(sizes.length).toBeLessThanOrEqual(16);
  expect(bytes).toBeGreaterThan(wanted);
  expect(bytes).toBeLessThanOrEqual(1.05 * wanted);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2 * 2 ** 20);
}

describe("a slice of a zip of 512 entries takes at most 16 requests and a twentieth more bytes than it wants", () => {
  it.each<[string, EntryDraft]>([
    ["stored", { name: "" }],
    ["with extra fields in their headers", { name: "", localExtra: new Uint8Array(28) }],
    ["with descriptors behind them", { name: "", descriptor: true }],
  ])("over HTTP, entries %s", (_, { name, ...unusual }) =>
    withZip(
      archive((entry) => ({ ...entry, ...unusual })),
      async (url, { requests }) => {
        expect(await wrongRows(url)).toEqual([]);
        expectFew(requests, CHUNKS * CHUNK_BYTES);
      },
    ),
  );

  it("in S3, chunk by chunk, too", () =>
    withBucket(async (server, bucket) => {
      server.objects.set("x.zarr.zip", Buffer.from(archive()));
      const zip = `s3://${bucket}/x.zarr.zip`;
      expect(await wrongRows(zip)).toEqual([]);
      expectFew(server.requests, CHUNKS * CHUNK_BYTES);
      server.requests.length = 0;
      let read = 0;
      for await (const { data } of slice(zip).chunks()) read += data?.length ?? 0;
      expect(read).toBe(CHUNKS * ITEMS);
      expectFew(server.requests, CHUNKS * CHUNK_BYTES);
    }));

  it("of chunks of which some are not stored", () =>
    withZip(
      archive((entry, row) => (row % 8 === 3 ? undefined : entry)),
      async (url, { requests }) => {
        const expected = (row: number) => (row % 8 === 3 ? new Uint8Array(CHUNK_BYTES) : chunk(row));
        expect(await wrongRows(url, expected)).toEqual([]);
        expectFew(requests, (CHUNKS * CHUNK_BYTES * 7) / 8);
      },
    ));
});

it("a rechunk of a zip far away takes few requests, and keeps to its budget", () =>
  withZip(archive(undefined, 1), async (url, { requests }) => {
    for (const [maxMemory, most] of [
      [256e6, 16],
      [3.5e6, CHUNKS],
    ] as const) {
      requests.length = 0;
      const target = `memory:zip-neighbors-${maxMemory}`;
      const { peakBuffers } = await rechunk(url, target, { chunks: [64, 2048], maxMemory, threads: 1 });
      expect(requests.length).toBeLessThanOrEqual(most);
      expect(peakBuffers).toBeLessThanOrEqual(maxMemory);
      expect(await wrongRows(target)).toEqual([]);
    }
  }));

describe("an entry that lies", () => {
  const refused = { code: "corrupt-store" };
  const expectRefused = (claims: EntryDraft["claims"], at: number, error: object) =>
    withZip(
      archive((entry, row) => (row === at ? { ...entry, claims } : entry)),
      (url) => expect(wrongRows(url)).rejects.toMatchObject(error),
    );

  const beyond = { size: 2 ** 31, packedSize: 2 ** 31 };
  it.each<[string, EntryDraft["claims"], string]>([
    ["of its CRC", { crc32: 1 }, "the CRC-32 of the zip entry differs"],
    ["of its sizes", { size: CHUNK_BYTES - 1 }, "the zip entry is stored, but its two sizes differ"],
    ["of its place", { offset: 77 }, "there is no local header at the offset in the zip directory"],
    ["of an end beyond the archive", beyond, "the zip entry extends beyond the archive"],
  ])("%s is refused with its key, though its neighbors are read with it", (_, claims, message) => {
    const reason = expect.stringContaining(message);
    return expectRefused(claims, 100, { ...refused, details: { key: "100.0" }, reason });
  });

  it("is refused where two are at one place", () => expectRefused({ offset: 0 }, 37, refused));
});

it("a request that fails is the error of the slice, which names a chunk, and the next one is read", () =>
  withZip(archive(), async (url, server) => {
    const array = await openArray(url);
    server.faults.push(...Array.from({ length: 3 }, () => () => false));
    server.faults.push((response) => {
      response.writeHead(403).end();
      return true;
    });
    await expect(wrongRows(array)).rejects.toMatchObject({
      code: "access-denied",
      details: { coords: [expect.any(Number), 0] },
    });
    expect(await wrongRows(array)).toEqual([]);
    await array.store.close?.();
  }));
