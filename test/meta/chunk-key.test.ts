import { describe, expect, it } from "vitest";
import type { ChunkKeyEncoding } from "../../src/meta/array-metadata.ts";
import {
  decodeChunkKey,
  encodeChunkKey,
  parseChunkKeyEncoding,
  writeChunkKeyEncoding,
} from "../../src/meta/chunk-key.ts";
import type { JsonValue } from "../../src/util/json-value.ts";
import { failure } from "./helpers.ts";

const encoding = (name: "default" | "plain", separator: "." | "/"): ChunkKeyEncoding => ({ name, separator });

describe("chunk keys", () => {
  it.each([
    ["default", "/", [1, 23, 45], "c/1/23/45"],
    ["default", ".", [1, 23, 45], "c.1.23.45"],
    ["default", "/", [], "c"],
    ["default", ".", [], "c"],
    ["plain", ".", [2, 4], "2.4"],
    ["plain", "/", [2, 4], "2/4"],
    ["plain", ".", [7], "7"],
    ["plain", ".", [], "0"],
    ["plain", "/", [], "0"],
  ] as const)("%s with %s: %j is %s, and back", (name, separator, coords, key) => {
    expect(encodeChunkKey(coords, encoding(name, separator))).toBe(key);
    expect(decodeChunkKey(key, coords.length, encoding(name, separator))).toEqual(coords);
  });

  it.each([
    ["plain", ".", 2, "0"],
    ["plain", ".", 2, "0.0.0"],
    ["plain", ".", 2, "0/0"],
    ["plain", ".", 2, "00.0"],
    ["plain", ".", 2, "-1.0"],
    ["plain", ".", 2, "1e1.0"],
    ["plain", ".", 2, "0.0.partial"],
    ["plain", ".", 2, ".0"],
    ["plain", ".", 2, " 0.0"],
    ["plain", ".", 1, ""],
    ["plain", ".", 1, "99999999999999999999"],
    ["plain", ".", 0, "1"],
    ["plain", ".", 0, ""],
    ["default", "/", 2, "0/0"],
    ["default", "/", 2, "c/0"],
    ["default", "/", 2, "c.0.0"],
    ["default", "/", 2, "d/0/0"],
    ["default", "/", 0, "c/0"],
    ["default", "/", 1, "c/01"],
  ] as const)("%s with %s, rank %i: %j is no chunk", (name, separator, rank, key) => {
    expect(decodeChunkKey(key, rank, encoding(name, separator))).toBeUndefined();
  });
});

describe("chunk key encodings of v3", () => {
  it.each([
    ["default", encoding("default", "/")],
    [{ name: "default" }, encoding("default", "/")],
    [{ name: "default", configuration: { separator: "." } }, encoding("default", ".")],
    [{ name: "v2" }, encoding("plain", ".")],
    [{ name: "v2", configuration: { separator: "/" } }, encoding("plain", "/")],
    [{ name: "v2", must_understand: false, configuration: {} }, encoding("plain", ".")],
  ])("reads %j", (json, expected) => {
    expect(parseChunkKeyEncoding(json as JsonValue, "/chunk_key_encoding")).toEqual(expected);
    expect(parseChunkKeyEncoding(writeChunkKeyEncoding(expected), "")).toEqual(expected);
  });

  it.each([
    [{ name: "default", configuration: { separator: "-" } }, "invalid-metadata", "/configuration/separator"],
    [{ name: "fancy" }, "unsupported-extension", ""],
    [{ name: "default", configuration: { base: 16 } }, "unsupported-extension", "/configuration/base"],
    [{ name: "default", configuration: [] }, "invalid-metadata", "/configuration"],
    [{}, "invalid-metadata", "/name"],
    [{ name: 3 }, "invalid-metadata", "/name"],
    [null, "invalid-metadata", ""],
  ])("refuses %j", (json, code, pointer) => {
    expect(failure(() => parseChunkKeyEncoding(json as JsonValue, "/k"))).toMatchObject({
      code,
      details: { pointer: `/k${pointer}` },
    });
  });
});
