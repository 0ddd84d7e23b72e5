import { expect, it } from "vitest";
import type { VariableData } from "../../../../src/codecs/chunk-data.ts";
import { chunkItems } from "../../../../src/flows/slabs/formats/json-items.ts";

it("writes objects with the numbers that they were stored with", () => {
  const texts = ['{"a": 9007199254740993, "b": [1.0, NaN, -Infinity, -0.0]}', "", "null", '"é"'];
  const parts = texts.map((text) => new TextEncoder().encode(text));
  let end = 0;
  const offsets = Uint32Array.from([0, ...parts.map(({ length }) => (end += length))]);
  const data: VariableData = { kind: "variable", bytes: Buffer.concat(parts), offsets, shape: [4] };
  expect([...chunkItems(data, { kind: "object" })]).toEqual([
    '{"a":9007199254740993,"b":[1.0,"NaN","-Infinity",-0.0]}',
    "null",
    "null",
    '"é"',
  ]);
});
