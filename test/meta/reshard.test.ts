import { describe, expect, test } from "vitest";
import type { ArrayMetadata } from "../../src/meta/array-metadata.ts";
import { byInnermost, withinShards } from "../../src/meta/inner-array.ts";
import { wholeShards, withoutShards, withShards } from "../../src/meta/reshard.ts";
import { ZarrflowError } from "../../src/util/errors.ts";

const codec = (name: string, configuration = {}) => ({ name, configuration });
const plain: ArrayMetadata = {
  kind: "array",
  shape: [10, 20],
  dataType: { kind: "uint", size: 1 },
  chunkGrid: { chunkShape: [2, 5] },
  chunkKeyEncoding: { name: "default", separator: "/" },
  codecs: [codec("transpose", { order: [1, 0] }), codec("bytes"), codec("gzip", { level: 1 })],
  fillValue: { bytes: new Uint8Array(1) },
  attributes: {},
};
const sharded = withShards(plain, [4, 20]);

describe("shards", () => {
  test("are put around chunks, and taken away again", () => {
    expect(sharded.chunkGrid).toEqual({ chunkShape: [4, 20], innerChunkShape: [2, 5] });
    expect(sharded.codecs.map(({ name }) => name)).toEqual(["sharding_indexed"]);
    expect(withoutShards(sharded)).toEqual(plain);
    expect(withoutShards(plain)).toBe(plain);
  });

  test("hold whole chunks", () => {
    for (const shape of [[3, 20], [4], [0, 5]]) expect(() => withShards(plain, shape)).toThrow(ZarrflowError);
    expect(wholeShards([-1, 10], plain)).toEqual([10, 10]);
    expect(wholeShards([4, -1], { ...plain, shape: [10, 21] })).toEqual([4, 25]);
  });

  test("behind a transpose hold chunks of the array's dimensions", () => {
    const inner = {
      name: "sharding_indexed",
      configuration: { chunk_shape: [5, 2], codecs: [codec("bytes")] },
    };
    const array = { ...sharded, codecs: [codec("transpose", { order: [1, 0] }), inner] };
    const within = withinShards(array);
    expect(within).toMatchObject({ dimensions: [1, 0], shardShape: [4, 20], chunksPerShard: [2, 4] });
    expect(within?.inner.chunkGrid).toEqual({ chunkShape: [2, 5] });
    expect(within?.inner.codecs.map(({ name }) => name)).toEqual(["transpose", "bytes"]);
  });

  test("in shards are seen by the innermost chunks", () => {
    const nested = withShards({ ...sharded, chunkGrid: { chunkShape: [4, 20] } }, [8, 40]);
    expect(withinShards(nested)?.inner.chunkGrid).toEqual({ chunkShape: [4, 20], innerChunkShape: [2, 5] });
    expect(byInnermost(nested)).toEqual(plain);
    expect(withoutShards(nested)).toEqual(plain);
  });

  test("cannot be seen into where other codecs follow or come before", () => {
    const [own] = sharded.codecs;
    if (own === undefined) throw new Error("no codec");
    for (const codecs of [
      [own, codec("crc32c")],
      [codec("cast_value"), own],
    ]) {
      const array = { ...sharded, codecs };
      expect(withinShards(array)).toBeUndefined();
      expect(byInnermost(array)).toBe(array);
      expect(withoutShards(array).chunkGrid).toEqual({ chunkShape: [2, 5] });
    }
    expect(withinShards(plain)).toBeUndefined();
  });
});
