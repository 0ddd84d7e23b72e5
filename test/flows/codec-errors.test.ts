// @module-tag slow
import { afterEach, beforeEach, expect, test } from "vitest";
import { copy, digest, rechunk, slice } from "../../src/index.ts";
import { nameMemoryStore } from "../../src/stores/memory.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { given } from "../support/given.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

const folders = temporaryFolder();
let bucket: S3Server;
let web: ValueServer;
const values = new Map<string, Uint8Array>();

beforeEach(async () => {
  bucket = await serveReachableBucket();
  web = await serveValues(values);
});

afterEach(async () => {
  await bucket.close();
  await web.close();
  nameMemoryStore("codec-errors", undefined);
  values.clear();
});

/** An array, in shards or not, one of whose chunks is damaged, and where it is to be read from. */
async function damaged(sharded: boolean) {
  const store = await given({
    shape: [4, 4],
    chunks: [2, 2],
    ...(sharded && { shards: [4, 4] }),
    dataType: "int32",
    codec: "gzip:5",
    values: (i) => i + 1,
  });
  const key = sharded ? "c/0/0" : "c/1/0";
  const bytes = (await store.get(key)) as Uint8Array;
  await store.set(key, bytes.fill(7, 12, sharded ? bytes.length - 80 : undefined));
  nameMemoryStore("codec-errors", store);
  for await (const { key: each } of store.list("")) {
    values.set(each, (await store.get(each)) as Uint8Array);
  }
  const folder = folders.next("data.zarr");
  await copy("memory:codec-errors", folder);
  await copy("memory:codec-errors", `s3://${BUCKET}/data.zarr`);
  return {
    [folder]: `directory ${folder}`,
    "memory:codec-errors": "memory",
    [web.url]: web.url,
    [`s3://${BUCKET}/data.zarr`]: `s3://${BUCKET}/data.zarr`,
  };
}

test.each([false, true])("an error of a codec names the store, shards: %s", async (sharded) => {
  const places = Object.entries(await damaged(sharded));
  const flows = {
    slice: (source: string) => slice(source).read(),
    digest: (source: string) => digest(source).next(),
    copy: (source: string) => copy(source, folders.next(), { codec: "zlib:1" }),
    rechunk: (source: string) => rechunk(source, folders.next(), { chunks: [4, 1], threads: 2 }),
  };
  for (const [source, store] of places) {
    for (const [name, flow] of Object.entries(flows)) {
      await expect(flow(source), `${name} ${source}`).rejects.toMatchObject({
        code: expect.stringMatching(/corrupt-chunk|codec-error/),
        details: { store, path: "", key: expect.any(String), coords: expect.any(Array) },
      });
    }
  }
});
