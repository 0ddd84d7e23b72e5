// @module-tag slow
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { digest, rechunk } from "../../../../src/index.ts";
import { DirectoryStore } from "../../../../src/stores/directory.ts";
import { MemoryStore } from "../../../../src/stores/memory.ts";
import { S3Store } from "../../../../src/stores/s3.ts";
import { temporaryFolder } from "../../../stores/temporary-folder.ts";
import { type S3Server, serveReachableBucket } from "../../../support/s3-environment.ts";

const folder = temporaryFolder();
const CHUNK = 1024;
const metadata = {
  zarr_format: 2,
  shape: [4 * CHUNK, 4 * CHUNK],
  chunks: [CHUNK, CHUNK],
  dtype: "|u1",
  fill_value: 0,
  order: "C",
  filters: null,
  compressor: null,
};

let server: S3Server;
let source: string;
beforeEach(async () => {
  server = await serveReachableBucket();
  source = folder.next();
  const store = new DirectoryStore(source);
  await store.set(".zarray", new TextEncoder().encode(JSON.stringify(metadata)));
  for (let chunk = 0; chunk < 16; chunk++) {
    const value = Uint8Array.from({ length: CHUNK * CHUNK }, (_, i) => 1 + ((i * 7 + chunk) % 251));
    await store.set(`${chunk >> 2}.${chunk & 3}`, value);
  }
});
afterEach(async () => {
  vi.restoreAllMocks();
  await server.close();
});

/** The memories that the values lie in which a class of stores is given. */
function memoriesOf(values: { readonly set: S3Store["set"] }): Set<ArrayBufferLike> {
  const memories = new Set<ArrayBufferLike>();
  const set = values.set;
  vi.spyOn(values, "set").mockImplementation(function (this: S3Store, key, bytes, options) {
    if (bytes.length >= CHUNK * CHUNK) memories.add(bytes.buffer);
    return set.call(this, key, bytes, options);
  });
  return memories;
}

it("works in the kernels' memory in one thread, too, of stores that know their specs", async () => {
  const memories = memoriesOf(S3Store.prototype);
  await rechunk(source, "s3://bucket/out.zarr", { chunks: [512, 4096] });
  expect(memories.size).toBe(1);
  expect(await digest("s3://bucket/out.zarr")).toEqual(await digest(source));
});

it("gives a program's store buffers of their own", async () => {
  const memories = memoriesOf(MemoryStore.prototype);
  await rechunk(source, new MemoryStore(), { chunks: [512, 4096] });
  expect(memories.size).toBeGreaterThan(1);
});
