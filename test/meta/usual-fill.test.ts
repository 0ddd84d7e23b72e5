import { describe, expect, it } from "vitest";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { slice, validate } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { all } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";
import { named } from "./helpers.ts";

type Members = Readonly<Record<string, unknown>>;

const V2 = { zarr_format: 2, shape: [2], chunks: [2], compressor: null, filters: null, order: "C" };
const V3 = {
  ...{ zarr_format: 3, node_type: "array", shape: [2] },
  chunk_grid: named("regular", { chunk_shape: [2] }),
  chunk_key_encoding: { name: "default" },
};
const VLEN = { dtype: "|O", filters: [{ id: "vlen-utf8" }] };
const LITTLE = [named("bytes", { endian: "little" })];

/** `raw` is the JSON of the fill value, as its writer spelled it. */
async function stored(document: Members, raw: string): Promise<MemoryStore> {
  const key = document.zarr_format === 3 ? "zarr.json" : ".zarray";
  const text = JSON.stringify({ ...document, fill_value: "@" }).replace('"@"', raw);
  return givenKeys({ [key]: text }, new MemoryStore("fill"));
}

describe("fill values as other writers spell them", () => {
  it.each<[string, Members, string, unknown]>([
    ["v2", { ...V2, dtype: "<i4" }, '"0"', 0],
    ["v2", { ...V2, dtype: "<i4" }, '"-17"', -17],
    ["v2", { ...V2, dtype: "<u8" }, '"18446744073709551615"', 2n ** 64n - 1n],
    ["v2", { ...V2, dtype: "<i4" }, "1.0", 1],
    ["v2", { ...V2, dtype: "|b1" }, "1", 1],
    ["v2", { ...V2, dtype: "|b1" }, "0", 0],
    ["v2", { ...V2, ...VLEN }, "0", "0"],
    ["v3", { ...V3, data_type: "int32", codecs: LITTLE }, '"5"', 5],
    ["v3", { ...V3, data_type: "int32", codecs: LITTLE }, "5.0", 5],
    ["v3", { ...V3, data_type: "bool", codecs: ["bytes"] }, "1", 1],
    ["v3", { ...V3, data_type: "bool", codecs: ["bytes"] }, "0", 0],
  ])("are read, and reported by validate: %s %j %s", async (_, document, raw, expected) => {
    const store = await stored(document, raw);
    const array = await openArray(store);
    const values = [...(await slice(array).read()).data].map((value) => value);
    expect(values.map((value) => (typeof value === "boolean" ? Number(value) : value))).toEqual([
      expected,
      expected,
    ]);
    const findings = (await all(validate(store))).map(({ level, pointer }) => ({ level, pointer }));
    expect(findings).toContainEqual({ level: "warning", pointer: "/fill_value" });
  });

  it.each<[string, Members, string]>([
    ["v2", { ...V2, dtype: "<i4" }, '"0x1"'],
    ["v2", { ...V2, dtype: "<i4" }, '"x"'],
    ["v2", { ...V2, dtype: "<i4" }, '""'],
    ["v2", { ...V2, dtype: "|u1" }, '"256"'],
    ["v2", { ...V2, dtype: "<i4" }, "1.5"],
    ["v2", { ...V2, dtype: "|b1" }, "2"],
    ["v2", { ...V2, ...VLEN }, "1"],
    ["v3", { ...V3, data_type: "uint8", codecs: ["bytes"] }, '"-1"'],
    ["v3", { ...V3, data_type: "int32", codecs: LITTLE }, '"0x00000001"'],
    ["v3", { ...V3, data_type: "bool", codecs: ["bytes"] }, '"true"'],
    ["v3", { ...V3, data_type: "string", codecs: ["vlen-utf8"] }, "0"],
  ])("are refused where they are none: %s %j %s", async (_, document, raw) => {
    await expect(openArray(await stored(document, raw))).rejects.toMatchObject({
      code: "invalid-metadata",
      details: { pointer: "/fill_value" },
    });
  });

  it("give no finding in the form of the format", async () => {
    const array = await openArray(await stored({ ...V2, dtype: "<i4" }, "7"));
    expect(array.findings).toEqual([]);
  });
});
