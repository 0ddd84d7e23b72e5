import { afterEach, describe, expect, it } from "vitest";
import type { DataType } from "../../../src/meta/data-type.ts";
import { draftOf } from "../../../src/meta/detect.ts";
import { Losses } from "../../../src/meta/documents.ts";
import type { Finding } from "../../../src/meta/format.ts";
import { parseNumpyType } from "../../../src/meta/v2/data-type.ts";
import {
  parseDraftFill,
  parseDraftType,
  writeDraftFill,
  writeDraftType,
} from "../../../src/meta/v3-draft/array.ts";
import {
  DRAFT_2019,
  DRAFT_2020,
  type DraftForm,
  PROTOCOL,
  understandExtension,
} from "../../../src/meta/v3-draft/form.ts";
import { brokenDraftName, layoutDraft } from "../../../src/meta/v3-draft/layout.ts";
import { parseBootstrap, writeBootstrap } from "../../../src/meta/v3-draft/v3-draft.ts";
import type { JsonObject, JsonValue } from "../../../src/util/json-value.ts";
import { failure, hex, json, lostPointers, refusal } from "../helpers.ts";

describe("documents of the draft", () => {
  const URI = "http://example.org/bootstrap-test";
  const GOOD: JsonObject = { zarr_format: PROTOCOL, metadata_encoding: "application/json", extensions: [] };

  function parse(members: JsonObject, form: DraftForm = DRAFT_2019): readonly Finding[] {
    const findings: Finding[] = [];
    parseBootstrap({ ...GOOD, ...members }, form, findings);
    return findings;
  }

  describe("the bootstrap document", () => {
    it("distinguishes the drafts by URI and suffix", () => {
      expect(draftOf(GOOD)).toBe("v3-draft-2019");
      expect(draftOf({ ...GOOD, metadata_key_suffix: ".json" })).toBe("v3-draft-2020");
      expect(draftOf({ zarr_format: 3 })).toBeUndefined();
      expect(draftOf({ zarr_format: "3" })).toBeUndefined();
    });

    it.each([
      [{ zarr_format: "https://example.org/zarr/3.0" }, "unsupported-format", "/zarr_format"],
      [{ zarr_format: 3 }, "invalid-metadata", "/zarr_format"],
      [{ zarr_format: undefined }, "invalid-metadata", "/zarr_format"],
      [{ metadata_encoding: "application/xml" }, "unsupported-encoding", "/metadata_encoding"],
      [{ extensions: ["x"] }, "invalid-metadata", "/extensions/0"],
    ] as const)("refuses %j", (members, code, pointer) => {
      expect(refusal(() => parse(members as unknown as JsonObject))).toBe(`${code} ${pointer}`);
    });

    it("is written with the exact URI, and read again", () => {
      expect(writeBootstrap(DRAFT_2019)).toEqual(GOOD);
      const later = writeBootstrap(DRAFT_2020);
      expect(later).toMatchObject({ metadata_encoding: PROTOCOL, metadata_key_suffix: ".json" });
      parseBootstrap(later, DRAFT_2020, []);
    });
  });

  describe("extensions", () => {
    afterEach(() => expect(parse({})).toEqual([]));
    const optional = { extension: "http://example.org/optional", must_understand: false, configuration: {} };

    it("that need not be understood are ignored", () => {
      expect(parse({ extensions: [optional] })).toMatchObject([{ pointer: "/extensions/0" }]);
    });

    // D19-24
    it("that must be understood are refused, unless the application says that it does", () => {
      const members = { extensions: [optional, { extension: URI, must_understand: true }] };
      const error = failure(() => parse(members));
      expect(error).toMatchObject({ code: "unsupported-extension", details: { pointer: "/extensions/1" } });
      expect(error.details.value).toContain(URI);
      understandExtension(URI);
      expect(parse(members)).toHaveLength(1);
    });
  });
});

describe("data types of the draft", () => {
  const parse = (json: Parameters<typeof parseDraftType>[0], findings: Finding[] = []) =>
    parseDraftType(json, DRAFT_2019, "/data_type", findings);

  describe("core types", () => {
    const numbers = ["<", ">"].flatMap((mark) =>
      ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8"].map((name) => mark + name),
    );

    it.each(["bool", "i1", "u1", ...numbers])("%s is read and written", (name) => {
      const { dataType, endian } = parse(name);
      const losses = new Losses();
      expect(writeDraftType(dataType, endian, DRAFT_2019, losses)).toBe(name);
      losses.check("", "");
      expect(dataType.kind).toBe(
        { b: "bool", i: "int", u: "uint", f: "float" }[name.replace(/^[<>]/, "")[0] ?? ""],
      );
    });

    it.each(["<c16", "<i16", "float32", ""])("%j is none", (name) => {
      expect(refusal(() => parse(name))).toBe("unsupported-data-type /data_type");
    });
  });

  describe("extension types", () => {
    const uri = "http://example.org/dt";
    const stated = { extension: uri, type: "<M8[ns]", fallback: "<i8" };

    it("are read as their fallback, and say so", () => {
      const findings: Finding[] = [];
      expect(parse(stated, findings)).toEqual({
        dataType: { kind: "int", size: 8 },
        endian: "little",
        extension: stated,
      });
      expect(findings).toMatchObject([{ pointer: "/data_type", message: expect.stringContaining(uri) }]);
    });

    it.each([
      [{ extension: uri, type: { any: 1 } }, "unsupported-data-type", "/data_type"],
      [{ ...stated, fallback: 8 }, "invalid-metadata", "/data_type/fallback"],
      [{ extension: 5, type: "x" }, "invalid-metadata", "/data_type/extension"],
    ] as const)("%j is refused", (json, code, pointer) => {
      const error = failure(() => parse(json as Parameters<typeof parse>[0]));
      expect(error).toMatchObject({ code, details: { pointer } });
      if (code === "unsupported-data-type") expect(error.details.value).toContain(uri);
    });
  });

  describe("what cannot be written", () => {
    it.each(["<c8", "|S3", "<U4", "|V6", "|O"])("%s is named", (name) => {
      const { dataType, endian } = parseNumpyType(name, "");
      const losses = new Losses(["/data_type"]);
      writeDraftType(dataType, endian, DRAFT_2019, losses);
      expect(lostPointers(() => losses.check("", ""))).toEqual(["/data_type"]);
    });

    it("times are integers to those who do not know them, where that is allowed", () => {
      const { dataType, endian } = parseNumpyType(">M8[ns]", "");
      const refusing = new Losses();
      writeDraftType(dataType, endian, DRAFT_2019, refusing);
      expect(failure(() => refusing.check("", "")).code).toBe("loss-refused");
      const losses = new Losses(["/data_type"]);
      const json = writeDraftType(dataType, endian, DRAFT_2019, losses);
      losses.check("", "");
      expect(json).toMatchObject({ type: ">M8[ns]", fallback: ">i8" });
      expect(parse(json)).toMatchObject({ dataType: { kind: "int", size: 8 }, endian: "big" });
    });
  });

  describe("extension types of the later draft's writers", () => {
    const times = "https://zarr-specs.readthedocs.io/en/latest/extensions/data-types/datetime/v1.0.html";

    it.each(["<c8", ">c16", "<M8[ns]", "<m8[25s]"])("%s is read and written", (name) => {
      const stored = parseNumpyType(name, "");
      const losses = new Losses();
      const json = writeDraftType(stored.dataType, stored.endian, DRAFT_2020, losses);
      losses.check("", "");
      expect(json).toMatchObject({ type: name, fallback: null });
      expect(parseDraftType(json, DRAFT_2020, "/data_type", [])).toEqual(stored);
      expect(failure(() => parse(json)).code).toBe("unsupported-data-type");
    });

    it.each([
      [{ extension: times, type: "<c8", fallback: null }, "/data_type"],
      [{ extension: times, type: "<M8", fallback: null }, "/data_type/type"],
      [{ extension: "TODO: bytestring array protocol URL", type: "|S5", fallback: null }, "/data_type"],
    ])("%j is none", (json, pointer) => {
      expect(refusal(() => parseDraftType(json, DRAFT_2020, "/data_type", []))).toBe(
        `unsupported-data-type ${pointer}`,
      );
    });
  });
});

const typeOf = (name: string): DataType => parseNumpyType(name, "").dataType;

describe("fill values", () => {
  it.each([
    ["|b1", "true", "01"],
    ["|b1", "false", "00"],
    ["<i8", "9007199254740993", "0100000000002000"],
    ["<u8", "18446744073709551615", "ffffffffffffffff"],
    ["|i1", "-128", "80"],
    ["<f2", "0.1", "662e"],
    ["<f4", '"NaN"', "0000c07f"],
    ["<f4", "1e39", "0000807f"],
    ["<f8", "-0.0", "0000000000000080"],
    ["<f8", '"-Infinity"', "000000000000f0ff"],
    ["<i4", "null", null],
    ["<c8", '[1.5, "NaN"]', "0000c03f0000c07f"],
    ["<M8[s]", "-2", "feffffffffffffff"],
  ])("of %s: %s", (type, text, bytes) => {
    const dataType = typeOf(type);
    const parsed = parseDraftFill(json(text), dataType, "/fill_value");
    expect(hex(parsed)).toBe(bytes);
    const written = writeDraftFill(parsed, dataType);
    expect(written).toBeDefined();
    expect(hex(parseDraftFill(written as JsonValue, dataType, "/fill_value"))).toBe(bytes);
  });

  it.each([
    ["|b1", '"true"'],
    ["<i4", "1.5", '"0"'],
    ["|i1", "128"],
    ["<u8", "18446744073709551616"],
    ["<f4", "true"],
    ["|S2", '""'],
    ["<c8", "[0]"],
  ])("of %s cannot be %s ...", (type, ...texts) => {
    for (const text of texts) {
      const refused = refusal(() => parseDraftFill(json(text), typeOf(type), "/fill_value"));
      expect(refused, text).toBe("invalid-metadata /fill_value");
    }
  });

  it("have no words for a NaN with a payload, nor for types beyond the core", () => {
    expect(writeDraftFill(Uint8Array.of(1, 0, 0xc0, 0x7f), typeOf("<f4"))).toBeUndefined();
    expect(writeDraftFill(Uint8Array.of(1, 0, 0xc0, 0x7f, 0, 0, 0, 0), typeOf("<c8"))).toBeUndefined();
    expect(writeDraftFill(new Uint8Array(2), typeOf("|S2"))).toBeUndefined();
    expect(writeDraftFill(new Uint8Array(8).fill(255), typeOf("<M8[ns]"))).toBe(-1);
  });
});

describe("places in the draft", () => {
  const layoutOf = (path: string) => layoutDraft(DRAFT_2019, path);
  const dot = { name: "plain", separator: "." } as const;
  const slash = { name: "plain", separator: "/" } as const;

  describe("keys of the draft of 2019", () => {
    it("lie in two trees", () => {
      const layout = layoutOf("/foo/baz");
      expect(layout).toMatchObject({
        zarrFormat: "v3-draft-2019",
        path: "foo/baz",
        documentKeys: ["meta/root/foo/baz.array", "meta/root/foo/baz.group"],
        prefixes: ["meta/root/foo/baz/", "data/foo/baz/"],
        chunksPrefix: "data/foo/baz/",
        membersPrefix: "meta/root/foo/baz/",
        hierarchy: { sharedKeys: ["zarr.json"], impliesGroups: true, ignoresCase: true },
      });
      expect(layout.chunkKey([0, 0], dot)).toBe("data/foo/baz/0.0");
      expect(layout.chunkKey([1, 23, 45], slash)).toBe("data/foo/baz/1/23/45");
      expect(layout.chunkKey([], dot)).toBe("data/foo/baz/0");
      expect(layout.parseChunkKey("data/foo/baz/1.2", 2, dot)).toEqual([1, 2]);
      expect(layout.parseChunkKey("meta/root/foo/baz/1.2", 2, dot)).toBeUndefined();
      expect(layout.parseChunkKey("data/foo/bazz/1.2", 2, dot)).toBeUndefined();
    });

    it("of the root have no name", () => {
      const root = layoutOf("/");
      expect(root.path).toBe("");
      expect(root.documentKeys).toEqual(["meta/root.array", "meta/root.group"]);
      expect(root.prefixes).toEqual(["meta/root/", "data/", ""]);
      expect(root.chunkKey([0, 0], dot)).toBe("data/0.0");
    });

    it("take off exactly one suffix, and of keys alone", () => {
      const root = layoutOf("");
      expect(root.memberName("meta/root/dots.array/")).toBe("dots.array");
      expect(root.memberName("meta/root/dots.array.array")).toBe("dots.array");
      expect(root.memberName("meta/root/x.group.array")).toBe("x.group");
      expect(root.memberName("meta/root/README.md")).toBeUndefined();
      expect(root.memberName("meta/root/a b.array")).toBeUndefined();
      expect(root.memberName("meta/root/.array")).toBeUndefined();
    });

    it("tell whose document they are of", () => {
      const { nodeOf, pathOf } = layoutOf("").hierarchy;
      expect(nodeOf("meta/root.group")).toBe("");
      expect(nodeOf("meta/root/foo/dots.array.group")).toBe("foo/dots.array");
      for (const key of [
        "zarr.json",
        "meta/root/a.json",
        "data/a.array",
        "meta/a.array",
        "meta/root/a b.array",
      ]) {
        expect(nodeOf(key)).toBeUndefined();
      }
      expect(pathOf("data/foo/0.0")).toBe("foo/0.0");
      expect(pathOf("meta/root/foo/bar.array")).toBe("foo/bar.array");
      expect(pathOf("README.md")).toBe("README.md");
    });
  });

  it("keys the later draft with a suffix, and chunks with a `c` before the first index", () => {
    const layout = layoutDraft(DRAFT_2020, "a");
    expect(layout.documentKeys).toEqual(["meta/root/a.array.json", "meta/root/a.group.json"]);
    expect(layout.chunkKey([0, 1], slash)).toBe("data/root/a/c0/1");
    expect(layout.parseChunkKey("data/root/a/c0/1", 2, slash)).toEqual([0, 1]);
    expect(layout.parseChunkKey("data/root/a/0/1", 2, slash)).toBeUndefined();
    expect(layout.memberName("meta/root/a/b.array.json")).toBe("b");
    expect(layout.hierarchy.nodeOf("meta/root/a/b.group.json")).toBe("a/b");
    expect(layout.hierarchy.nodeOf("meta/root/a/b.group")).toBeUndefined();
    expect(layoutDraft(DRAFT_2020, "").chunkKey([3], slash)).toBe("data/root/c3");
  });

  describe("paths", () => {
    it("may lack the slash in front", () => {
      expect(layoutOf("a/b").path).toBe("a/b");
      expect(layoutOf("/a/b").path).toBe("a/b");
    });

    it.each(["a/", "/a/", "a//b", "//a", "//"])("refuse the slashes of %j", (path) => {
      expect(failure(() => layoutOf(path))).toMatchObject({
        code: "path-not-allowed",
        details: { format: "v3-draft-2019", path },
      });
    });
  });

  describe("node names", () => {
    it.each([
      "a",
      "Z",
      "0",
      "-",
      "_",
      ".a",
      "a.",
      "..a",
      "foo.array",
      "zarr.json",
      "__x",
      "meta",
      "x".repeat(255),
    ])("may be %j", (name) => expect(brokenDraftName(name)).toBeUndefined());

    it.each([
      ["is empty", ""],
      ["has only periods", ".", "..."],
      ["has a character other than", "a b", "a\\b", "é", "a\n", "a\0"],
      ["is longer than 255 characters", "x".repeat(256)],
    ])("may not be what %s: %j ...", (rule, ...names) => {
      for (const name of names) {
        expect(brokenDraftName(name)).toContain(rule);
        if (name === "") continue;
        const error = failure(() => layoutOf(`g/${name}/a`));
        expect(error).toMatchObject({ code: "invalid-node-name", details: { path: `g/${name}/a` } });
        expect(error.message).toContain(rule);
      }
    });
  });
});
