import { describe, expect, it } from "vitest";
import { JsonNumber } from "../../../src/util/json-value.ts";
import { arrayWith, failure, lostPointers, parseWith, writeWith } from "../helpers.ts";
import { v2, ZARRAY } from "./documents.ts";

describe("errors", () => {
  it.each([
    [{ zarr_format: undefined }, "invalid-metadata", "/zarr_format"],
    [{ zarr_format: "2" }, "invalid-metadata", "/zarr_format"],
    [{ zarr_format: 3 }, "unsupported-format", "/zarr_format"],
    [{ zarr_format: 9 }, "unsupported-format", "/zarr_format"],
    [{ shape: undefined }, "invalid-metadata", "/shape"],
    [{ shape: "20" }, "invalid-metadata", "/shape"],
    [{ shape: null }, "invalid-metadata", "/shape"],
    [{ shape: [-1, 30] }, "invalid-metadata", "/shape/0"],
    [{ shape: [20, 1.5] }, "invalid-metadata", "/shape/1"],
    [{ shape: [2 ** 60, 30] }, "invalid-metadata", "/shape/0"],
    [{ chunks: undefined }, "invalid-metadata", "/chunks"],
    [{ chunks: null }, "invalid-metadata", "/chunks"],
    [{ chunks: [10] }, "invalid-metadata", "/chunks"],
    [{ chunks: [10, 10, 10] }, "invalid-metadata", "/chunks"],
    [{ chunks: [10, 0] }, "invalid-metadata", "/chunks/1"],
    [{ chunks: [-1, 10] }, "invalid-metadata", "/chunks/0"],
    [{ chunks: [2.5, 10] }, "invalid-metadata", "/chunks/0"],
    [{ dtype: undefined }, "invalid-metadata", "/dtype"],
    [{ dtype: 4 }, "invalid-metadata", "/dtype"],
    [{ dtype: "i4" }, "unsupported-data-type", "/dtype"],
    [{ dtype: "|S1099511627776" }, "resource-limit", "/dtype"],
    [{ compressor: undefined }, "invalid-metadata", "/compressor"],
    [{ compressor: "zlib" }, "invalid-metadata", "/compressor"],
    [{ compressor: { level: 1 } }, "invalid-metadata", "/compressor/id"],
    [{ compressor: { id: 1 } }, "invalid-metadata", "/compressor/id"],
    [{ compressor: { id: "sharding_indexed" } }, "unsupported-codec", "/compressor/id"],
    [{ filters: {} }, "invalid-metadata", "/filters"],
    [{ filters: [{}] }, "invalid-metadata", "/filters/0/id"],
    [{ filters: [null] }, "invalid-metadata", "/filters/0"],
    [{ filters: [{ id: "delta" }, { id: "pickle" }] }, "unsupported-codec", "/filters/1/id"],
    [{ compressor: { id: "pickle" } }, "unsupported-codec", "/compressor/id"],
    [{ dtype: "|O" }, "invalid-metadata", "/filters"],
    [{ dtype: "|O", filters: [{ id: "delta" }] }, "invalid-metadata", "/filters"],
    [{ dtype: "|O", compressor: { id: "vlen-utf8" } }, "invalid-metadata", "/filters"],
    [{ fill_value: undefined }, "invalid-metadata", "/fill_value"],
    [{ fill_value: "abc" }, "invalid-metadata", "/fill_value"],
    [{ order: undefined }, "invalid-metadata", "/order"],
    [{ order: "K" }, "invalid-metadata", "/order"],
    [{ dimension_separator: "-" }, "invalid-metadata", "/dimension_separator"],
    [{ dimension_separator: 1 }, "invalid-metadata", "/dimension_separator"],
  ])("%j is %s at %s", (members, code, pointer) => {
    const error = failure(() => arrayWith(v2, { ".zarray": { ...ZARRAY, ...members } }));
    expect(error).toMatchObject({ code, details: { format: "v2", path: "", key: ".zarray", pointer } });
  });

  it.each([
    [".zgroup", "{}", "invalid-metadata", "/zarr_format"],
    [".zgroup", '{"zarr_format": 7}', "unsupported-format", "/zarr_format"],
    [".zgroup", "[]", "invalid-metadata", ""],
    [".zarray", "null", "invalid-metadata", ""],
    [".zarray", "", "invalid-metadata", ""],
    [".zarray", `${JSON.stringify(ZARRAY)} x`, "invalid-metadata", ""],
    [".zarray", JSON.stringify(ZARRAY).slice(0, 40), "invalid-metadata", ""],
  ])("%s of %j is %s at %s", (key, text, code, pointer) => {
    const error = failure(() => parseWith(v2, { [`a/b/${key}`]: text }, "a/b"));
    expect(error).toMatchObject({ code, details: { path: "a/b", key: `a/b/${key}`, pointer } });
  });

  it.each(["[]", "1", '{"a": 1', "[".repeat(48_000)])(
    "attributes %j are refused at their own key",
    (zattrs) => {
      const error = failure(() => parseWith(v2, { ".zarray": ZARRAY, ".zattrs": zattrs }));
      expect(["invalid-metadata", "resource-limit"]).toContain(error.code);
      expect(error.details.key).toBe(".zattrs");
    },
  );
});

describe("what v2 cannot hold", () => {
  const array = arrayWith(v2, { ".zarray": ZARRAY });
  const bytes = { name: "bytes", configuration: { endian: "little" } };

  it.each([
    [
      "keys with `c`",
      { chunkKeyEncoding: { name: "default", separator: "/" } as const },
      ["/chunk_key_encoding"],
    ],
    [
      "shards",
      { codecs: [{ name: "sharding_indexed", configuration: { chunk_shape: [5, 5] } }] },
      ["/codecs/0"],
    ],
    [
      "another order",
      { shape: [1, 1, 1], codecs: [{ name: "transpose", configuration: { order: [2, 0, 1] } }, bytes] },
      ["/codecs/0"],
    ],
    ["a codec of v3 alone", { codecs: [{ name: "cast_value", configuration: {} }, bytes] }, ["/codecs/0"]],
    ["a codec that is not known", { codecs: [bytes, { name: "nosuch", configuration: {} }] }, ["/codecs/1"]],
    [
      "times without a unit",
      { dataType: { kind: "datetime", size: 8, unit: "generic", scale: 1 } as const },
      ["/data_type"],
    ],
    [
      "ZEP 7's layout",
      {
        dataType: { kind: "string" } as const,
        codecs: [{ name: "zep0007", configuration: { offset_size: 4 } }],
      },
      ["/codecs/0"],
    ],
    ["names of another format", { extra: { zarrFormat: "v3", json: { ext: {} } } as const }, ["/ext"]],
    [
      "NaN payloads",
      {
        dataType: { kind: "float", size: 4 } as const,
        fillValue: { bytes: Uint8Array.of(1, 0, 0xc0, 0x7f) },
      },
      ["/fill_value"],
    ],
  ])("%s", (_, members, pointers) => {
    const error = failure(() => writeWith(v2, { ...array, ...members }));
    expect(error).toMatchObject({ code: "loss-refused", details: { format: "v2", pointers } });
  });

  it("names all losses at once, and lets go of those that are allowed", () => {
    const lossy = {
      ...array,
      extra: { zarrFormat: "v3", json: { ext: {}, more: {} } } as const,
      dimensionNames: ["y", null],
      attributes: { x: new JsonNumber("1.0") },
    };
    expect(lostPointers(() => writeWith(v2, lossy))).toEqual(["/dimension_names", "/ext", "/more"]);
    const written = writeWith(v2, lossy, { allowLoss: ["/ext", "/more", "/dimension_names"] });
    expect(JSON.parse(written[".zarray"] ?? "")).toEqual(ZARRAY);
    expect(written[".zattrs"]).toBe('{\n    "x": 1.0\n}');
  });

  it("does not let go of what the data need", () => {
    const keyed = { ...array, chunkKeyEncoding: { name: "default", separator: "/" } as const };
    expect(failure(() => writeWith(v2, keyed, { allowLoss: ["/chunk_key_encoding"] })).code).toBe(
      "loss-refused",
    );
  });
});
