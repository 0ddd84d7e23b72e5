import fc from "fast-check";
import { expect, test } from "vitest";
import { errorOf } from "../../support.ts";
import { text, utf8, variableCodec } from "../variable-codec.ts";

const codec = (dtype: string, items: number) =>
  variableCodec("vlen-array", { dtype }, { kind: "object" }, [items]);

test("is stored as numcodecs does", async () => {
  const { encode, decode } = await codec("<f8", 3);
  const items = ["[1.5,2.5]", "[0.25]", "[]"];
  const encoded = await encode(items.map(utf8));
  expect(Buffer.from(encoded).toString("hex")).toBe(
    "0300000010000000000000000000f83f000000000000044008000000000000000000d03f00000000",
  );
  expect((await decode(encoded)).map(text)).toEqual(items);
});

test.each([
  ["|i1", "[-128,127]"],
  [">u2", "[0,65535]"],
  ["<i8", "[-9223372036854775808,9223372036854775807]"],
  [">u8", "[18446744073709551615]"],
  ["<f2", "[1.0,65504.0,NaN]"],
  [">f4", "[0.5,Infinity,-Infinity]"],
  ["|b1", "[true,false]"],
])("%s holds %s", async (dtype, list) => {
  const { encode, decode } = await codec(dtype, 1);
  expect((await decode(await encode([utf8(list)]))).map(text)).toEqual([list]);
});

test("gives back any lists", () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.array(fc.integer()), { maxLength: 8 }), async (lists) => {
      const { encode, decode } = await codec("<i4", lists.length);
      const items = await decode(await encode(lists.map((list) => utf8(JSON.stringify(list)))));
      expect(items.map((item) => JSON.parse(text(item)))).toEqual(lists);
    }),
    { numRuns: 50 },
  ));

test("null and no text are empty lists", async () => {
  const { encode, decode } = await codec("<i4", 2);
  expect((await decode(await encode([utf8("null"), utf8("")]))).map(text)).toEqual(["[]", "[]"]);
});

test.each([
  ["|u1", "[256]"],
  ["|u1", "[1.5]"],
  ["<i4", '["1"]'],
  ["<i4", "{}"],
  ["<u8", "[-1]"],
  ["<i8", "[1.5]"],
  ["|b1", "[1]"],
  ["|u1", "[true]"],
])("%s does not hold %s", async (dtype, list) => {
  const { encode } = await codec(dtype, 1);
  expect((await errorOf(() => encode([utf8(list)]), "codec-error")).message).toContain("item 0");
});

test("items that are not whole numbers are corrupt, and so are other counts", async () => {
  const { decode } = await codec("<i4", 1);
  await errorOf(() => decode(Uint8Array.of(1, 0, 0, 0, 2, 0, 0, 0, 9, 9)), "corrupt-chunk");
  await errorOf(() => decode(Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0)), "corrupt-chunk");
});
