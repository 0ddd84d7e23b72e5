// @module-tag slow
import { describe, expect, it } from "vitest";
import type { ZarrArray } from "../../../src/hierarchy/node.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import { ZipWriter } from "../../../src/stores/zip.ts";
import { assertBytes } from "../../stores/expect-bytes.ts";
import { withBucket } from "../../support/s3-environment.ts";
import { MemorySink } from "../memory-sink.ts";
import { serveValues } from "../value-server.ts";
import { buildZip, type EntryDraft } from "./build-zip.ts";

const text = (document: object) => new TextEncoder().encode(JSON.stringify(document));
const ROWS = 100;
const COLUMNS = 200;
const ZARRAY = text({
  zarr_format: 2,
  shape: [ROWS, COLUMNS * 4],
  chunks: [1, 4],
  dtype: "|u1",
  compressor: null,
  fill_value: 0,
  order: "C",
  filters: null,
});

/** Bytes of the chunk at a place, all different. */
function chunk(row: number, column: number, length = 4): Uint8Array {
  return new Uint8Array(length).fill(1).map((_, i) => row + column * 3 + i);
}

/** A group with an array of 20,000 chunks; its documents first or last. */
function entries(areDocumentsFirst: boolean): EntryDraft[] {
  const documents = [
    { name: ".zgroup", value: text({ zarr_format: 2 }) },
    { name: "t2m/.zarray", value: ZARRAY },
    { name: "t2m/.zattrs", value: text({ units: "K" }) },
  ];
  const chunks = Array.from({ length: ROWS * COLUMNS }, (_, i) => {
    const [row, column] = [Math.floor(i / COLUMNS), i % COLUMNS];
    return { name: `t2m/${row}.${column}`, value: chunk(row, column) };
  });
  return areDocumentsFirst ? [...documents, ...chunks] : [...chunks, ...documents];
}

async function written(drafts: readonly EntryDraft[]): Promise<Uint8Array> {
  const sink = new MemorySink();
  const writer = new ZipWriter(sink, "zip");
  for (const { name, value = new Uint8Array() } of drafts) await writer.set(String(name), value);
  await writer.finish();
  return sink.bytes;
}

async function expectChunk(array: ZarrArray, row: number, column: number): Promise<void> {
  assertBytes(await array.store.get(`t2m/${row}.${column}`), chunk(row, column));
}

/** Made once for the tests that only read it. */
let plain: Promise<Uint8Array> | undefined;
const asWrittenHere = () => {
  plain ??= written(entries(true));
  return plain;
};

describe("requests for an array in a zip of 20,000 entries", () => {
  it.each<[string, () => Uint8Array | Promise<Uint8Array>, { readonly refusesHead?: boolean }]>([
    ["as written here", asWrittenHere, {}],
    ["with its documents last", () => buildZip(entries(false)), {}],
    [
      "with extra fields",
      () => buildZip(entries(true).map((e) => ({ ...e, localExtra: new Uint8Array(28) }))),
      {},
    ],
    ["of a server that gives no size to a HEAD", asWrittenHere, { refusesHead: true }],
  ])(
    "%s are four at most on opening, then one for chunks beside each other",
    async (_, make, manners) => {
      const server = await serveValues(new Map([["x.zarr.zip", await make()]]), manners);
      try {
        const array = await openArray(`${server.url}/x.zarr.zip/t2m`);
        expect(array.attributes).toEqual({ units: "K" });
        expect(server.requests.length - (manners.refusesHead ? 1 : 0)).toBeLessThanOrEqual(4);

        server.requests.length = 0;
        await Promise.all([5, 6, 7, 8].map((column) => expectChunk(array, 50, column)));
        expect(server.requests.map(({ headers }) => headers.range !== undefined)).toEqual([true]);
        server.requests.length = 0;
        for (const row of [10, 20, 30]) await expectChunk(array, row, 150);
        expect(server.requests).toHaveLength(3);
        await array.store.close?.();
      } finally {
        await server.close();
      }
    },
    60_000,
  );

  it(
    "are of the same number in S3",
    () =>
      withBucket(async (server, bucket) => {
        server.objects.set("zips/x.zarr.zip", Buffer.from(await asWrittenHere()));
        const array = await openArray(`s3://${bucket}/zips/x.zarr.zip|zip:t2m`);
        expect(server.requests.map(({ method }) => method)).toEqual(["HEAD", "GET", "GET", "GET"]);
        await expectChunk(array, 77, 7);
        expect(server.requests).toHaveLength(5);
      }),
    60_000,
  );
});

it("a chunk of a megabyte is one request of its own bytes", async () => {
  const drafts = Array.from({ length: 4 }, (_, i) => ({ name: `t2m/${i}.0`, value: chunk(i, 0, 2 ** 20) }));
  const server = await serveValues(new Map([["x.zip", await written(drafts)]]));
  try {
    const { openStore } = await import("../../../src/stores/url.ts");
    const store = await openStore({
      kind: "zip-value",
      store: { kind: "http", url: server.url },
      key: "x.zip",
    });
    server.requests.length = 0;
    await Promise.all(
      [0, 1, 2].map(async (i) => assertBytes(await store.get(`t2m/${i}.0`), chunk(i, 0, 2 ** 20))),
    );
    expect(server.requests).toHaveLength(3);
    await store.close?.();
  } finally {
    await server.close();
  }
});
