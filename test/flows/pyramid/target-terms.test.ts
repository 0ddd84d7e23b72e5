// @module-tag slow
import { describe, expect, test } from "vitest";
import { exists, openArray, openGroup, pyramid, validate } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { failOnUnhandledRejections, rejection } from "../../streams/support.ts";
import { all, itemsOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { makeImage } from "../../support/ome-images.ts";

failOnUnhandledRejections();

/** A dataset with missing values, in which the latitude is of whole numbers. */
function dataset(zarrFormat: "v2" | "v3", dimensionNames: readonly (string | null)[] = ["y", "x"]) {
  const t = {
    ...{ shape: [4, 6], chunks: [2, 3], dataType: "int16", codec: "gzip:1", dimensionNames },
    ...(zarrFormat === "v2" ? { fillValue: -1 } : { attributes: { _FillValue: -1 } }),
    values: (i: number) => (i % 5 === 0 ? -1 : i),
  };
  const y = { dataType: "int32", dimensionNames: ["y"], values: [0, 10, 20, 30] };
  return given({ zarrFormat, arrays: { t, y } });
}

describe.each([
  ["v2", "v3"],
  ["v3", "v2"],
] as const)("a pyramid of %s in %s", (from, to) => {
  test("has that format and the codec in all levels, and the same values", async () => {
    const source = await dataset(from);
    const [target, same] = [new MemoryStore(), new MemoryStore()];
    await pyramid(source, target, { to, codec: "zstd:3", levels: 3 });
    await pyramid(source, same, { levels: 3 });
    for (const level of ["0", "1", "2"]) {
      for (const name of ["t", "y"]) {
        const array = await openArray({ store: target, path: `${level}/${name}` });
        expect(array.layout.zarrFormat).toBe(to);
        expect(array.metadata.codecs.map((codec) => codec.name)).toEqual(["bytes", "zstd"]);
        expect(await itemsOf(target, array.path)).toEqual(await itemsOf(same, array.path));
      }
    }
    expect((await openGroup(target)).layout.zarrFormat).toBe(to);
    const findings = await all(validate(target, { deep: true }));
    expect(findings).toEqual([]);
    // what is missing is missing to the next pyramid too
    const [again, once] = [new MemoryStore(), new MemoryStore()];
    await pyramid({ store: target, path: "1" }, again, { to: from, levels: 2 });
    await pyramid({ store: same, path: "1" }, once, { levels: 2 });
    expect(await itemsOf(again, "1/t")).toEqual(await itemsOf(once, "1/t"));
  });

  test("keeps what an image says of its channels", async () => {
    const omero = { channels: [{ label: "nuclei" }] };
    const source = await makeImage({ zarrFormat: from, axes: ["c", "y", "x"], shapes: [[1, 8, 8]], omero });
    const target = new MemoryStore();
    const { convention } = await pyramid(source, target, { to, levels: 2 });
    expect(convention).toBe(to === "v3" ? "OME-Zarr 0.5" : "OME-Zarr 0.4");
    const { attributes } = await openGroup(target);
    const image = (to === "v3" ? attributes.ome : attributes) as Record<string, unknown>;
    expect(image.omero).toEqual(omero);
    expect(Object.keys(attributes).sort()).toEqual(to === "v3" ? ["ome"] : ["multiscales", "omero"]);
    expect(await itemsOf(target, "0")).toEqual(await itemsOf(source, "0"));
  });
});

test("refuses what the format cannot represent before it writes anything", async () => {
  const source = await dataset("v3", [null, "x"]);
  const target = new MemoryStore();
  const failure = await rejection(pyramid(source, target, { to: "v2", levels: 2 }));
  const hint = expect.stringMatching(/convert SRC DST --to v2 --allow-loss \/\S+`\.$/);
  expect(failure).toMatchObject({ code: "loss-refused", details: { path: "t", hint } });
  const v1 = pyramid(source, target, { to: "v1" as "v2", levels: 2 });
  await expect(v1).rejects.toMatchObject({ code: "invalid-option" });
  const misspelt = pyramid(source, target, { codec: "zstdd" as "zstd", levels: 2 });
  const details = { hint: "Did you mean `zstd`?" };
  await expect(misspelt).rejects.toMatchObject({ code: "invalid-option", details });
  expect(await exists(target)).toBe(false);
});

describe.each(["v2", "v3"] as const)("what attributes of %s state as missing", (zarrFormat) => {
  test.each([
    ["float32", [1, -999, 3, Number.NaN, -999, -999], { missing_value: -999 }, [2, -999]],
    ["float16", [1, -999, 3, 5, -999, -999], { missing_value: -999 }, [3, -999]],
    ["int16", [1, -999, 3, 5, -999, -999], { missing_value: -999 }, [3, -999]],
    ["int64", [1, -999, 3, 5, -999, -999], { missing_value: -999 }, [3, -999]],
    ["int16", [1, -999, 3, -1, -1, -1], { _FillValue: -1, missing_value: [-999] }, [2, -1]],
    ["int16", [1, -999, 3, -1, -999, -1], { missing_value: [-999, -1] }, [2, -999]],
    ["int16", [1, -999, 3, -1, -999, -1], { _FillValue: [-999, -1] }, [2, -999]],
  ])("is no item of a block: %s of %j, %j", async (dataType, values, attributes, expected) => {
    const more = { attributes, dimensionNames: ["y", "x"], codec: "none" };
    const fillValue = zarrFormat === "v2" ? null : 0;
    // blocks of four items and of two
    const items = [0, 1, 4, 2, 3, 5].map((i) => values[i] ?? 0);
    const t = { shape: [2, 3], dataType, fillValue, ...more, values: items };
    const store = await given({ zarrFormat, arrays: { t } });
    for (const [method, first] of Object.entries({ mean: expected[0], min: 1 })) {
      const target = new MemoryStore();
      await pyramid(store, target, { levels: 2, method: method as "mean" });
      expect((await itemsOf(target, "1/t")).map(Number)).toEqual([first, expected[1]]);
    }
  });
});
