import { describe, expect, it } from "vitest";
import type { Finding } from "../../../src/meta/format.ts";
import { Losses } from "../../../src/meta/losses.ts";
import { parseNumpyType } from "../../../src/meta/v2/data-type.ts";
import { parseDraftType, writeDraftType } from "../../../src/meta/v3-draft/data-type.ts";
import { DRAFT_2019, DRAFT_2020 } from "../../../src/meta/v3-draft/form.ts";
import { failure, lostPointers } from "../helpers.ts";

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

  it.each(["|i1", "|u1", "|b1", "i4", "<c8", "<c16", "<i16", "float32", "<M8[ns]", "|S5", ""])(
    "%j is none",
    (name) => {
      expect(failure(() => parse(name))).toMatchObject({
        code: "unsupported-data-type",
        details: { pointer: "/data_type" },
      });
    },
  );
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
    [{ ...stated, fallback: null }, "unsupported-data-type", "/data_type"],
    [{ extension: uri, type: { any: 1 } }, "unsupported-data-type", "/data_type"],
    [{ ...stated, fallback: "<M8[ns]" }, "invalid-metadata", "/data_type/fallback"],
    [{ ...stated, fallback: 8 }, "invalid-metadata", "/data_type/fallback"],
    [{ extension: uri, fallback: "<i8" }, "invalid-metadata", "/data_type/type"],
    [{ type: "x", fallback: "<i8" }, "invalid-metadata", "/data_type/extension"],
    [{ extension: 5, type: "x" }, "invalid-metadata", "/data_type/extension"],
    [7, "invalid-metadata", "/data_type"],
    [["<i4"], "invalid-metadata", "/data_type"],
    [null, "invalid-metadata", "/data_type"],
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
    expect(failure(() => parseDraftType(json, DRAFT_2020, "/data_type", []))).toMatchObject({
      code: "unsupported-data-type",
      details: { pointer },
    });
  });
});
