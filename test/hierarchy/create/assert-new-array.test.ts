import { expect, test } from "vitest";
import { create, type NewArray } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";

const right = { shape: [4], chunks: [2], dataType: "uint8" } as const;
const sparse: number[] = [];
sparse[3] = 1;

const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  shape: [5, null, "4", ["4"], [null], { length: 1 }, sparse],
  chunks: [5, null, undefined, ["a"], {}],
  shards: [5, "x", ["4"], null],
  codec: [5, {}, { name: 5 }, [], true],
  codecs: [5, "gzip", [5], [null], [undefined], [[]]],
  order: ["Z", 5],
  separator: ["x", 5],
  dimensionNames: [5, "x", {}, [5]],
  attributes: [5, "x", [], null],
};

const cases = Object.entries(WRONG).flatMap(([name, values]) =>
  values.map((value) => [name, value] as const),
);

test.each(cases)("an array with %s: %j is rejected", async (name, value) => {
  const array = { ...right, [name]: value } as unknown as NewArray;
  await expect(create(new MemoryStore(), array)).rejects.toMatchObject({ code: "invalid-option" });
});

test("what is right is taken", async () => {
  const array: NewArray = {
    ...right,
    shards: [4],
    codecs: ["crc32c"],
    separator: ".",
    dimensionNames: [null],
    attributes: {},
  };
  await (await create(new MemoryStore(), array)).close();
  await (await create(new MemoryStore(), { ...right, codec: "gzip:1", order: "F" })).close();
});
