import { describe, expect, test } from "vitest";
import { v2Format } from "../../../src/meta/v2/v2.ts";
import { arrayWith, failure } from "../helpers.ts";

const v2 = v2Format();
const zarray = (rest: object) => ({
  zarr_format: 2,
  shape: [4, 6],
  chunks: [2, 3],
  dtype: "|O",
  compressor: null,
  fill_value: null,
  order: "F",
  filters: null,
  ...rest,
});
const namesOf = (rest: object) => arrayWith(v2, { ".zarray": zarray(rest) }).codecs.map(({ name }) => name);

describe.each(["json2", "msgpack2"])("%s stores items by their coords", (id) => {
  test("so that the order means nothing, and is kept", () => {
    expect(namesOf({ filters: [{ id }] })).toEqual([id]);
    expect(namesOf({ dtype: "<i4", filters: [{ id }] })).toEqual(["bytes", id]);
    const metadata = arrayWith(v2, { ".zarray": zarray({ filters: [{ id }] }) });
    const written = v2.write(metadata, v2.layout("")).get(".zarray");
    expect(JSON.parse(new TextDecoder().decode(written))).toMatchObject({ order: "F", filters: [{ id }] });
  });

  test("but behind other filters it does", () => {
    const filters = [{ id: "delta", dtype: "<i4" }, { id }];
    expect(namesOf({ dtype: "<i4", filters })).toEqual(["transpose", "bytes", "delta", id]);
  });

  test("an order in front of it cannot be written", () => {
    const metadata = arrayWith(v2, { ".zarray": zarray({ order: "C", filters: [{ id }] }) });
    const transpose = { name: "transpose", configuration: { order: [1, 0] } };
    const error = failure(() =>
      v2.write({ ...metadata, codecs: [transpose, ...metadata.codecs] }, v2.layout("")),
    );
    expect(error.code).toBe("loss-refused");
  });
});

test("the other codecs of objects follow the order", () => {
  expect(namesOf({ filters: [{ id: "vlen-utf8" }] })).toEqual(["transpose", "vlen-utf8"]);
  expect(namesOf({ filters: [{ id: "categorize", labels: [], dtype: "|O" }] })).toEqual([
    "transpose",
    "categorize",
  ]);
});

test.each(["cast_value", "scale_offset", "v3.packbits", "zep0007"])("v2 knows no %s", (id) => {
  const error = failure(() => arrayWith(v2, { ".zarray": zarray({ dtype: "<i4", filters: [{ id }] }) }));
  expect(error).toMatchObject({ code: "unsupported-codec", details: { pointer: "/filters/0/id" } });
});
