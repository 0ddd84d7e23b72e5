import { describe, expect, it } from "vitest";
import { consolidate, readConsolidatedV2, sameDocument } from "../../src/meta/consolidated.ts";
import { readConsolidatedV3 } from "../../src/meta/v3/consolidated.ts";
import { bytesOf, json, refusal, textOf } from "./helpers.ts";

const documents = (entries: Record<string, unknown>) =>
  new Map(Object.entries(entries).map(([key, document]) => [key, bytesOf(document)]));
const texts = (map: ReadonlyMap<string, Uint8Array> | undefined) =>
  map && Object.fromEntries([...map].map(([key, bytes]) => [key, textOf(bytes)]));

const GROUP = { attributes: {}, zarr_format: 3, node_type: "group" };

describe("v2", () => {
  const zmetadata = `{
    "metadata": {
        ".zgroup": {
            "zarr_format": 2
        },
        "a/.zattrs": {
            "big": 18446744073709551615,
            "nan": NaN
        },
        "a/.zgroup": {
            "zarr_format": 2
        }
    },
    "zarr_consolidated_format": 1
}`;

  it("reads documents by key, as they stand", () => {
    expect(texts(readConsolidatedV2(bytesOf(zmetadata), "x"))).toEqual({
      "x/.zgroup": '{\n            "zarr_format": 2\n        }',
      "x/a/.zattrs": '{\n            "big": 18446744073709551615,\n            "nan": NaN\n        }',
      "x/a/.zgroup": '{\n            "zarr_format": 2\n        }',
    });
  });

  it("writes them in the reference's form, before the document that makes the group", () => {
    const all = consolidate("v2", "x", readConsolidatedV2(bytesOf(zmetadata), "x"));
    expect([...all.keys()]).toEqual(["x/.zmetadata", "x/.zgroup", "x/a/.zattrs", "x/a/.zgroup"]);
    expect(textOf(all.get("x/.zmetadata"))).toBe(zmetadata);
  });

  it("consolidates only what lies below a group", () => {
    const group = { zarr_format: 2 };
    const all = consolidate("v2", "x", documents({ "xy/.zgroup": group, "x/.zgroup": group, "x/note": {} }));
    expect(json(textOf(all.get("x/.zmetadata")))).toMatchObject({ metadata: { ".zgroup": group } });
    expect(textOf(all.get("x/.zmetadata"))).not.toContain("note");
    const array = documents({ ".zarray": {} });
    expect(consolidate("v2", "", array)).toEqual(array);
  });

  it("passes over keys that would leave the group, and other documents", () => {
    const metadata = {
      "../b/.zgroup": {},
      "/.zgroup": {},
      "a//.zgroup": {},
      "a\\.zgroup": {},
      "a/0.0": {},
      "a/.zgroup": {},
    };
    const read = readConsolidatedV2(bytesOf({ metadata, zarr_consolidated_format: 1 }), "");
    expect([...read.keys()]).toEqual(["a/.zgroup"]);
  });

  it.each([
    [{ metadata: {} }, "invalid-metadata", "/zarr_consolidated_format"],
    [{ metadata: {}, zarr_consolidated_format: 2 }, "unsupported-format", "/zarr_consolidated_format"],
    [{ zarr_consolidated_format: 1 }, "invalid-metadata", "/metadata"],
    [{ metadata: [], zarr_consolidated_format: 1 }, "invalid-metadata", "/metadata"],
    ["{", "invalid-metadata", ""],
    [[], "invalid-metadata", ""],
    ['{"metadata": {".zgroup": {}}, "n": NaN}', "invalid-metadata", "/n"],
    ['{"metadata": {".zgroup": {"zarr_format": tru}}}', "invalid-metadata", "/metadata/.zgroup/zarr_format"],
  ])("refuses %j", (document, code, pointer) => {
    expect(refusal(() => readConsolidatedV2(bytesOf(document), ""))).toBe(`${code} ${pointer}`);
  });
});

describe("v3", () => {
  const inline = (metadata: unknown, others: object = {}) => ({
    ...GROUP,
    consolidated_metadata: { kind: "inline", must_understand: false, metadata, ...others },
  });

  it("reads documents by key", () => {
    const array = { zarr_format: 3, node_type: "array" };
    expect(texts(readConsolidatedV3(bytesOf(inline({ a: GROUP, "a/b": array })), "x"))).toEqual({
      "x/a/zarr.json": JSON.stringify(GROUP),
      "x/a/b/zarr.json": JSON.stringify(array),
    });
  });

  it("has none without, with null, or of another kind", () => {
    expect(readConsolidatedV3(bytesOf(GROUP), "")).toBeUndefined();
    expect(readConsolidatedV3(bytesOf({ ...GROUP, consolidated_metadata: null }), "")).toBeUndefined();
    expect(readConsolidatedV3(bytesOf(inline({}, { kind: "external" })), "")).toBeUndefined();
  });

  it("puts all documents below into the group's, flat", () => {
    const all = consolidate(
      "v3",
      "x",
      documents({
        "x/a/zarr.json": inline({ b: GROUP }),
        "x/a/b/zarr.json": GROUP,
        "x/zarr.json": GROUP,
        "y/zarr.json": GROUP,
      }),
    );
    expect([...all.keys()]).toEqual(["x/a/zarr.json", "x/a/b/zarr.json", "x/zarr.json", "y/zarr.json"]);
    const root = JSON.parse(textOf(all.get("x/zarr.json")));
    expect(root).toEqual(inline({ a: GROUP, "a/b": GROUP }));
    expect(Object.keys(root)).toEqual(["attributes", "zarr_format", "consolidated_metadata", "node_type"]);
  });

  it("lists groups before their members, and the members of one group together, as zarr-python requires", () => {
    const paths = ["x/g/a", "x/h/a", "x/g/z", "x/g-h", "x/g/z/a", "x/b", "x/h", "x/g", "x"];
    const all = consolidate(
      "v3",
      "x",
      documents(Object.fromEntries(paths.map((path) => [`${path}/zarr.json`, GROUP]))),
    );
    const { metadata } = JSON.parse(textOf(all.get("x/zarr.json"))).consolidated_metadata;
    expect(Object.keys(metadata)).toEqual(["b", "g", "g-h", "h", "g/a", "g/z", "h/a", "g/z/a"]);
  });

  it("leaves arrays and other formats as they are", () => {
    const array = documents({ "zarr.json": { node_type: "array" } });
    expect(consolidate("v3", "", array)).toEqual(array);
    expect(consolidate("v1", "", documents({ meta: {} }))).toEqual(documents({ meta: {} }));
  });

  it.each([
    [inline(undefined), "/consolidated_metadata/metadata"],
    [{ ...GROUP, consolidated_metadata: 1 }, "/consolidated_metadata"],
  ])("refuses %j", (document, pointer) => {
    expect(refusal(() => readConsolidatedV3(bytesOf(document), ""))).toBe(`invalid-metadata ${pointer}`);
  });
});

it("documents that are no objects are not compared", () => {
  expect(refusal(() => sameDocument(bytesOf({}), bytesOf([1])))).toBe("invalid-metadata ");
});
