// @module-tag slow
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { convert, digestTree } from "../../src/index.ts";
import { testFolder } from "../support/cli.ts";
import { ramp, writeV2Group } from "../support/v2-store.ts";
import { hasPython, runPython } from "./python.ts";

describe.runIf(hasPython)("a tree of digests", () => {
  it("has the root that zarr-python's items have, by an implementation of its own, in both formats", async () => {
    const folder = await testFolder();
    const texts = Array.from({ length: 20_000 }, (_, i) => "ä".repeat(i % 7));
    const times = new BigInt64Array([0n, -(2n ** 63n), 5n]);
    const edge = { shape: [3, 700, 300], chunks: [1, 350, 300] };
    await writeV2Group(join(folder, "a.zarr"), {
      edge,
      "below/many": {
        shape: [90, 131_100],
        chunks: [90, 9000],
        dtype: "|u1",
        items: new Uint8Array(90 * 131_100),
      },
      "below/text": { shape: [20_000], chunks: [20_000], dtype: "|O", items: texts },
      "ä/times": { shape: [3], chunks: [2], dtype: "<M8[ns]", items: times },
      "Z/fixed": {
        shape: [2],
        chunks: [2],
        dtype: "<U3",
        items: new Uint32Array([65, 0, 0, 66, 0x1f600, 0]),
      },
      scalar: { shape: [], chunks: [], dtype: ">i2", items: new Uint8Array([1, 2]) },
      empty: { shape: [0, 4], chunks: [1, 4], dtype: "<f8", items: ramp(0) },
    });
    for (const name of ["below", "ä", "Z"]) await writeV2Group(join(folder, "a.zarr", name), {});
    await convert(join(folder, "a.zarr"), join(folder, "b.zarr"), {
      to: "v3",
      chunks: "edge:-1,7,300",
      shards: "edge:-1,350,300",
    });
    const trees = await Promise.all(["a.zarr", "b.zarr"].map((name) => digestTree(join(folder, name))));
    for (const [i, name] of ["a.zarr", "b.zarr"].entries()) {
      const { sha256, arrays = [] } = trees[i] ?? {};
      expect(await runPython("digest_tree.py", join(folder, name))).toEqual({
        sha256,
        arrays: Object.fromEntries(arrays.map((array) => [array.path, array.sha256])),
      });
    }
    expect(trees[0]).toEqual(trees[1]);
    expect(trees[0]?.arrays).toHaveLength(7);
  });
});
