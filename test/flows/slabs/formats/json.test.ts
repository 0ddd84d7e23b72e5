import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { formatSlice } from "../../../../src/flows/slabs/formats/slice-format.ts";
import { slice } from "../../../../src/flows/slice.ts";
import { all } from "../../../support/consume.ts";
import { type V2Array, writeV2Array } from "../../../support/v2-store.ts";

/** The JSON of an array with these items, in chunks of two. */
async function jsonOf(dtype: unknown, items: V2Array["items"], length: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "zarrflow-json-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const chunks = ArrayBuffer.isView(items) ? [2] : [length];
  await writeV2Array(folder, { shape: [length], chunks, dtype, items });
  return text(formatSlice(slice(folder), "json"));
}

const bytes = (...parts: ArrayBufferView[]) =>
  Buffer.concat(
    parts.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );

describe("a slice as JSON", () => {
  it.each([
    ["|b1", Uint8Array.of(1, 0, 1), "[true,false,true]"],
    ["|i1", Int8Array.of(-1, 0, 127), "[-1,0,127]"],
    [
      "<i8",
      BigInt64Array.of(9007199254740993n, -(2n ** 63n), 0n),
      "[9007199254740993,-9223372036854775808,0]",
    ],
    ["<u8", BigUint64Array.of(2n ** 64n - 1n), "[18446744073709551615]"],
    ["<f4", Float32Array.of(0.1, -0, 1e30), "[0.10000000149011612,-0,1.0000000150474662e+30]"],
    ["<f8", Float64Array.of(Number.NaN, Infinity, -Infinity, 0.1), '["NaN","Infinity","-Infinity",0.1]'],
    ["<f2", Uint16Array.of(0x3c00, 0x7e00, 0x0001), '[1,"NaN",5.960464477539063e-8]'],
    ["<c8", Float32Array.of(1, 2, Number.NaN, -0), '[[1,2],["NaN",-0]]'],
    ["<M8[ns]", BigInt64Array.of(-(2n ** 63n), 1700000000000000001n), '["NaT",1700000000000000001]'],
    ["<m8[s]", BigInt64Array.of(-5n), "[-5]"],
    ["|S3", bytes(Uint8Array.of(97, 98, 0, 255, 0, 1)), '["YWI=","/wAB"]'],
    ["|V2", Uint8Array.of(0, 1, 2, 0), '["AAE=","AgA="]'],
    ["<U2", Uint32Array.of(0x1f30d, 34, 97, 0), '["🌍\\"","a"]'],
  ])("of %s", async (dtype, items, expected) => {
    const length = (items.byteLength / Number(/\d+/.exec(dtype)?.[0])) * (dtype === "<U2" ? 0.25 : 1);
    expect(await jsonOf(dtype, items, length)).toBe(`${expected}\n`);
  });

  it("of structures, by their fields; padding is left out", async () => {
    const dtype = [
      ["id", "<i8"],
      ["", "|V1"],
      ["at", "<M8[s]"],
      ["xy", "<f4", [2]],
      [
        "in",
        [
          ["ok", "|b1"],
          ["__proto__", "|u1"],
        ],
      ],
    ];
    const item = bytes(BigInt64Array.of(2n ** 60n), Uint8Array.of(9), BigInt64Array.of(-(2n ** 63n)));
    const items = bytes(item, Float32Array.of(0.5, Number.NaN), Uint8Array.of(1, 7));
    expect(await jsonOf(dtype, items, 1)).toBe(
      '[{"id":1152921504606846976,"at":"NaT","xy":[0.5,"NaN"],"in":{"ok":true,"__proto__":7}}]\n',
    );
  });

  it("of text is JSON of the same text", async () => {
    expect(await jsonOf("|O", ["", "é\n", "\u2028"], 3)).toBe('["","é\\n","\u2028"]\n');
  });

  it("of nothing is an empty list", async () => {
    expect(await jsonOf("<f4", new Float32Array(0), 0)).toBe("[]\n");
  });

  it("of many items comes in pieces", async () => {
    const folder = await mkdtemp(join(tmpdir(), "zarrflow-json-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const items = Float64Array.from({ length: 50_000 }, (_, i) => i / 7);
    await writeV2Array(folder, { shape: [50_000], chunks: [7000], dtype: "<f8", items });
    const pieces = await all(formatSlice(slice(folder), "json"));
    expect(pieces.length).toBeGreaterThan(10);
    expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual([...items]);
  });
});
