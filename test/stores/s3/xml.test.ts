import { describe, expect, it } from "vitest";
import { elements, escaped, textOf } from "../../../src/stores/s3/xml.ts";

describe("elements of an answer", () => {
  it("are found in order, with what lies in them", () => {
    expect(elements("<r><a>1</a><b/><a><c>2</c></a></r>", "a")).toEqual(["1", "<c>2</c>"]);
    expect(elements("<r></r>", "a")).toEqual([]);
    expect(elements("<r><a>cut", "a")).toEqual([]);
  });

  it("have their entities replaced", () => {
    expect(textOf("<a>&lt;&amp;&quot;&apos;&#64;&#x40;&gt;</a>", "a")).toBe(`<&"'@@>`);
    expect(textOf("<a>&unknown;&#99999999;&constructor;</a>", "a")).toBe("&unknown;&#99999999;&constructor;");
    expect(textOf("<b/>", "a")).toBeUndefined();
  });

  it("are read back as they were escaped", () => {
    const text = `"<a & 'b'>"`;
    expect(textOf(`<a>${escaped(text)}</a>`, "a")).toBe(text);
  });
});
