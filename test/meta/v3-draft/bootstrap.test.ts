import { afterEach, describe, expect, it } from "vitest";
import type { Finding } from "../../../src/meta/format.ts";
import { parseBootstrap, writeBootstrap } from "../../../src/meta/v3-draft/bootstrap.ts";
import { draftOf } from "../../../src/meta/v3-draft/draft-of.ts";
import { understandExtension } from "../../../src/meta/v3-draft/extension.ts";
import { DRAFT_2019, DRAFT_2020, type DraftForm, PROTOCOL } from "../../../src/meta/v3-draft/form.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { failure } from "../helpers.ts";

const URI = "http://example.org/bootstrap-test";
const GOOD: JsonObject = { zarr_format: PROTOCOL, metadata_encoding: "application/json", extensions: [] };

function parse(members: JsonObject, form: DraftForm = DRAFT_2019): readonly Finding[] {
  const findings: Finding[] = [];
  parseBootstrap({ ...GOOD, ...members }, form, findings);
  return findings;
}

function without(name: string): JsonObject {
  return Object.fromEntries(Object.entries(GOOD).filter(([other]) => other !== name));
}

describe("the bootstrap document", () => {
  it("distinguishes the drafts by URI and suffix", () => {
    expect(draftOf(GOOD)).toBe("v3-draft-2019");
    expect(draftOf({ ...GOOD, metadata_key_suffix: ".json" })).toBe("v3-draft-2020");
    expect(draftOf({ zarr_format: 3 })).toBeUndefined();
    expect(draftOf({ zarr_format: "3" })).toBeUndefined();
  });

  it.each([
    { zarr_format: "https://purl.org/zarr/spec/protocol/core/3.7" },
    { zarr_format: "http://purl.org/zarr/spec/protocol/core/3.0" },
    { other: { names: "are ignored" } },
  ] as JsonObject[])("may say %j", (members) => {
    expect(parse(members)).toEqual([]);
  });

  it("may lack extensions", () => {
    parseBootstrap(without("extensions"), DRAFT_2019, []);
  });

  it.each([
    [{ zarr_format: "https://purl.org/zarr/spec/protocol/core/4.0" }, "unsupported-format", "/zarr_format"],
    [{ zarr_format: "https://example.org/zarr/3.0" }, "unsupported-format", "/zarr_format"],
    [{ zarr_format: 3 }, "invalid-metadata", "/zarr_format"],
    [{ metadata_encoding: "application/xml" }, "unsupported-encoding", "/metadata_encoding"],
    [{ metadata_encoding: 5 }, "invalid-metadata", "/metadata_encoding"],
    [{ extensions: {} }, "invalid-metadata", "/extensions"],
    [{ extensions: ["x"] }, "invalid-metadata", "/extensions/0"],
    [{ extensions: [{ must_understand: true }] }, "invalid-metadata", "/extensions/0/extension"],
    [{ extensions: [{ extension: URI }] }, "invalid-metadata", "/extensions/0/must_understand"],
    [
      { extensions: [{ extension: URI, must_understand: "false" }] },
      "invalid-metadata",
      "/extensions/0/must_understand",
    ],
    [{ metadata_key_suffix: ".xml" }, "unsupported-format", "/metadata_key_suffix"],
  ] as const)("refuses %j", (members, code, pointer) => {
    expect(failure(() => parse(members as unknown as JsonObject))).toMatchObject({
      code,
      details: { pointer },
    });
  });

  it.each(["zarr_format", "metadata_encoding"])("needs %s", (name) => {
    expect(failure(() => parseBootstrap(without(name), DRAFT_2019, []))).toMatchObject({
      code: "invalid-metadata",
      details: { pointer: `/${name}` },
    });
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
