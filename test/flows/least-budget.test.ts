// @module-tag slow
import { expect, it } from "vitest";
import { copy } from "../../src/flows/copy.ts";
import { diff } from "../../src/flows/diff.ts";
import { writerMemory } from "../../src/stores/store-traits.ts";
import { pooledSize } from "../../src/streams/buffer-pool.ts";
import { BUCKET } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { given } from "../support/given.ts";
import { withBucket } from "../support/s3-environment.ts";

const folder = temporaryFolder();
const LEAST = writerMemory({ kind: "s3", bucket: BUCKET, prefix: "" }) + pooledSize(1);

it.each([0, 1, pooledSize(1), 100_000, 1_000_000, 3_000_000])(
  "a copy to S3 ends with the least memory that its plan takes, and %i bytes",
  async (more) => {
    const source = folder.next("s.zarr");
    await given({ at: source, shape: [20_000, 2], chunks: [5_000, 2], dataType: "int32" });
    await withBucket(async () => {
      const target = `s3://${BUCKET}/a.zarr`;
      await copy(source, target, { threads: 1, concurrency: 2, maxMemory: LEAST + more });
      for await (const difference of diff(source, target)) expect(difference).toBeUndefined();
      await expect(copy(source, target, { maxMemory: LEAST - 1 })).rejects.toMatchObject({
        code: "budget-too-small",
      });
    });
  },
);
