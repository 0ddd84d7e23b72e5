import { describe, expect, it } from "vitest";
import { detectFormat, detectionKeys, hierarchyFormat } from "../../src/meta/detect.ts";
import { bytesOf } from "./helpers.ts";

const DRAFT = "https://purl.org/zarr/spec/protocol/core/3.0";
const detect = (documents: Record<string, unknown>, path = "") =>
  detectFormat(new Map(Object.entries(documents).map(([key, document]) => [key, bytesOf(document)])), path);

describe("detectDialect", () => {
  it("looks at keys in the order in which they count", () => {
    expect(detectionKeys("a/b")).toEqual(["a/b/zarr.json", "a/b/.zarray", "a/b/.zgroup", "a/b/meta"]);
    expect(detectionKeys("")[0]).toBe("zarr.json");
  });

  it.each([
    [{ "zarr.json": { zarr_format: 3 } }, "v3"],
    [{ "zarr.json": "not JSON" }, "v3"],
    [{ "zarr.json": { zarr_format: 7 } }, "v3"],
    [{ "zarr.json": { zarr_format: DRAFT } }, "v3-draft-2019"],
    [{ "zarr.json": { zarr_format: DRAFT, metadata_key_suffix: ".json" } }, "v3-draft-2020"],
    [{ ".zarray": {} }, "v2"],
    [{ ".zgroup": "[" }, "v2"],
    [{ meta: {} }, "v1"],
  ])("%j is %s", (documents, zarrFormat) => {
    expect(detect(documents)).toEqual({ zarrFormat, findings: [] });
  });

  it("finds nothing without any of them", () => {
    expect(detect({ ".zattrs": {}, "x/.zgroup": {} })).toBeUndefined();
    expect(detect({ ".zgroup": {} }, "x")).toBeUndefined();
  });

  it("takes the first of several formats, and names the others", () => {
    const found = detect({ "a/.zarray": {}, "a/zarr.json": { zarr_format: 3 }, "a/meta": {} }, "a");
    expect(found?.zarrFormat).toBe("v3");
    expect(found?.findings[0]?.message).toContain(".zarray and meta");
    expect(detect({ ".zarray": {}, ".zgroup": {} })).toEqual({ zarrFormat: "v2", findings: [] });
  });

  it("recognises hierarchies whose nodes do not lie at their paths", () => {
    const formatOf = (document: unknown) => hierarchyFormat(bytesOf(document));
    expect(formatOf({ zarr_format: DRAFT })).toBe("v3-draft-2019");
    expect(formatOf({ zarr_format: DRAFT, metadata_key_suffix: ".json" })).toBe("v3-draft-2020");
    for (const other of [{ zarr_format: 3 }, { zarr_format: "3" }, "[", []])
      expect(formatOf(other)).toBeUndefined();
  });
});
