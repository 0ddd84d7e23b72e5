// @module-tag slow
import { afterEach, expect, it, vi } from "vitest";
import { digest, rechunk } from "../../../../src/index.ts";
import { MemoryStore } from "../../../../src/stores/memory.ts";
import { S3Store } from "../../../../src/stores/s3.ts";
import { temporaryFolder } from "../../../stores/temporary-folder.ts";
import { given } from "../../../support/given.ts";
import { withBucket } from "../../../support/s3-environment.ts";

const folder = temporaryFolder();
const CHUNK = 1024;
const array = { shape: [4 * CHUNK, 4 * CHUNK], chunks: [CHUNK, CHUNK], dataType: "uint8", codec: "none" };

afterEach(() => void vi.restoreAllMocks());

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

it("works in the kernels' memory in one thread, too, of stores that know their specs, and of no others", async () => {
  const source = await given({ at: folder.next(), ...array, values: (i) => 1 + ((i * 7) % 251) });
  const kernels = memoriesOf(S3Store.prototype);
  await withBucket(async (_, bucket) => {
    const target = `s3://${bucket}/out.zarr`;
    await rechunk(source, target, { chunks: [512, 4096] });
    expect(await digest(target)).toEqual(await digest(source));
  });
  expect(kernels.size).toBe(1);
  const own = memoriesOf(MemoryStore.prototype);
  await rechunk(source, new MemoryStore(), { chunks: [512, 4096] });
  expect(own.size).toBeGreaterThan(1);
});
