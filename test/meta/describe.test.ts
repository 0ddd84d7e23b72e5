import { expect, it } from "vitest";
import type { DataType } from "../../src/meta/data-type.ts";
import { describeCodec, describeDataType } from "../../src/meta/describe.ts";
import { JsonNumber, type JsonObject } from "../../src/util/json-value.ts";

it.each<[string, JsonObject, string]>([
  ["blosc", { cname: "lz4", clevel: 5, shuffle: "shuffle", blocksize: 0 }, "blosc(lz4, 5, shuffle)"],
  ["gzip", { level: 1 }, "gzip(1)"],
  ["zstd", { level: -5, checksum: true }, "zstd(-5)"],
  ["bytes", { endian: "little" }, "bytes(little)"],
  ["bytes", {}, "bytes"],
  ["transpose", { order: [1, 0] }, "transpose([1, 0])"],
  ["crc32c", {}, "crc32c"],
  ["delta", { dtype: "<f8", astype: "<f4" }, "delta(dtype=<f8, astype=<f4)"],
  [
    "jenkins_lookup3",
    { initval: new JsonNumber("18446744073709551615"), prefix: null },
    "jenkins_lookup3(initval=18446744073709551615, prefix=null)",
  ],
  ["odd", { a: { b: [1] } }, 'odd(a={"b":[1]})'],
  [
    "sharding_indexed",
    {
      chunk_shape: [32, 32],
      codecs: [
        { name: "bytes", configuration: { endian: "little" } },
        { name: "zstd", configuration: { level: 3 } },
      ],
    },
    "sharding_indexed([32, 32], bytes(little) + zstd(3))",
  ],
])("describes %s %j", (name, configuration, words) => {
  expect(describeCodec({ name, configuration })).toBe(words);
});

it.each<[DataType, string]>([
  [{ kind: "bool", size: 1 }, "bool"],
  [{ kind: "uint", size: 2 }, "uint16"],
  [{ kind: "float", size: 4 }, "float32"],
  [{ kind: "complex", size: 8 }, "complex64"],
  [{ kind: "datetime", size: 8, unit: "ns", scale: 1 }, "datetime64[ns]"],
  [{ kind: "timedelta", size: 8, unit: "s", scale: 25 }, "timedelta64[25s]"],
  [{ kind: "fixed-bytes", size: 12 }, "S12"],
  [{ kind: "fixed-text", size: 20 }, "U5"],
  [{ kind: "raw", size: 3 }, "r24"],
  [{ kind: "string" }, "string"],
  [{ kind: "object" }, "object"],
  [
    {
      kind: "struct",
      size: 21,
      fields: [
        { name: "x", dataType: { kind: "int", size: 4 } },
        { name: "y", dataType: { kind: "float", size: 8 }, shape: [2] },
        { name: "", dataType: { kind: "raw", size: 1 } },
      ],
    },
    "struct{x: int32, y: float64[2], padding: r8}",
  ],
])("names %j", (dataType, name) => {
  expect(describeDataType(dataType)).toBe(name);
});
