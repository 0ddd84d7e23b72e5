import { expect, test } from "vitest";
import { formatNamed } from "../../src/meta/formats.ts";

const v3 = formatNamed("v3");

function parse(dataType: unknown, fillValue: unknown) {
  const document = {
    zarr_format: 3,
    node_type: "array",
    shape: [2],
    data_type: dataType,
    chunk_grid: { name: "regular", configuration: { chunk_shape: [2] } },
    chunk_key_encoding: { name: "default" },
    codecs: [{ name: "bytes" }],
    fill_value: fillValue,
  };
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  return v3.parse(new Map([["zarr.json", bytes]]), v3.layout(""));
}

test("text of a fixed length whose `bytes` state no byte order is little-endian, with a note", () => {
  const parsed = parse({ name: "fixed_length_utf32", configuration: { length_bytes: 8 } }, "");
  expect(parsed?.metadata).toMatchObject({
    codecs: [{ name: "bytes", configuration: { endian: "little" } }],
  });
  expect(parsed?.findings).toMatchObject([
    { message: expect.stringContaining("no byte order is stated for text") },
  ]);
});

test("numbers must state theirs", () => {
  expect(() => parse("int32", 0)).toThrow("the data type needs a byte order");
});
