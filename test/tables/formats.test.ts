import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { command } from "../../src/cli/commands/slice.ts";
import { outputFormat } from "../../src/cli/output-names.ts";
import type { VariableData } from "../../src/codecs/chunk-data.ts";
import { slice } from "../../src/flows/slice.ts";
import type { Slice } from "../../src/hierarchy/slice.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import { parseNumpyType } from "../../src/meta/v2/data-type.ts";
import { chunkItems } from "../../src/run/slabs/json-items.ts";
import { npyHeader } from "../../src/tables/npy.ts";
import {
  fileEnding,
  formatSlice,
  formattedPieces,
  SLICE_FORMATS,
  type SliceFormat,
} from "../../src/tables/slice-format.ts";
import type { JsonValue } from "../../src/util/json-value.ts";
import { testFolder } from "../support/cli.ts";
import { all } from "../support/consume.ts";
import { type V2Array, writeV2Array } from "../support/v2-store.ts";

/** The JSON of an array with these items, in chunks of two. */
async function jsonOf(dtype: unknown, items: V2Array["items"], length: number): Promise<string> {
  const folder = await testFolder();
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
    ["<i8", BigInt64Array.of(9007199254740993n, -(2n ** 63n)), "[9007199254740993,-9223372036854775808]"],
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
    const inner = '[["ok", "|b1"], ["__proto__", "|u1"]]';
    const outer = `["id", "<i8"], ["", "|V1"], ["at", "<M8[s]"], ["xy", "<f4", [2]], ["in", ${inner}]`;
    const item = bytes(BigInt64Array.of(2n ** 60n), Uint8Array.of(9), BigInt64Array.of(-(2n ** 63n)));
    const items = bytes(item, Float32Array.of(0.5, Number.NaN), Uint8Array.of(1, 7));
    expect(await jsonOf(JSON.parse(`[${outer}]`), items, 1)).toBe(
      '[{"id":1152921504606846976,"at":"NaT","xy":[0.5,"NaN"],"in":{"ok":true,"__proto__":7}}]\n',
    );
  });

  it("of text is JSON of the same text, and of nothing an empty list", async () => {
    expect(await jsonOf("|O", ["", "é\n", "\u2028"], 3)).toBe('["","é\\n","\u2028"]\n');
    expect(await jsonOf("<f4", new Float32Array(0), 0)).toBe("[]\n");
  });

  it("of many items comes in pieces", async () => {
    const folder = await testFolder();
    const items = Float64Array.from({ length: 50_000 }, (_, i) => i / 7);
    await writeV2Array(folder, { shape: [50_000], chunks: [7000], dtype: "<f8", items });
    const pieces = await all(formatSlice(slice(folder), "json"));
    expect(pieces.length).toBeGreaterThan(10);
    expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual([...items]);
  });
});

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

const typeOf = (json: JsonValue): DataType => parseNumpyType(json, "").dataType;

/** Magic, version and length, and the dictionary as Latin-1 text. */
function parts(header: Uint8Array): { start: number[]; text: string; length: number } {
  const lengthBytes = header[6] === 1 ? 2 : 4;
  const text = Buffer.from(header.subarray(8 + lengthBytes)).toString("latin1");
  expect(text).toMatch(/\} *\n$/);
  return { start: [...header.subarray(0, 8 + lengthBytes)], text: text.trimEnd(), length: header.length };
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

describe("npyHeader", () => {
  // What NumPy 2.4.6 writes for the same.
  it.each([
    ["<f4", [720], "'<f4', 'fortran_order': False, 'shape': (720,), }"],
    ["|b1", [], "'|b1', 'fortran_order': False, 'shape': (), }"],
    ["<i8", [2, 3], "'<i8', 'fortran_order': False, 'shape': (2, 3), }"],
    ["|S5", [1], "'|S5', 'fortran_order': False, 'shape': (1,), }"],
    ["<U4", [2], "'<U4', 'fortran_order': False, 'shape': (2,), }"],
    ["<M8[25s]", [2], "'<M8[25s]', 'fortran_order': False, 'shape': (2,), }"],
    ["|V3", [2], "'|V3', 'fortran_order': False, 'shape': (2,), }"],
    ["<c16", [0, 2], "'<c16', 'fortran_order': False, 'shape': (0, 2), }"],
  ])("of %s %j is NumPy's", (type, shape, rest) => {
    const start = [...MAGIC, 1, 0, 0x76, 0];
    expect(parts(npyHeader(typeOf(type), shape))).toEqual({ start, text: `{'descr': ${rest}`, length: 128 });
  });

  it("of a structure is NumPy's list of fields", () => {
    const fields = `["a", "<i4"], ["b", "<f8", [2, 3]], ["c", "|u1", [2]]`;
    const type = JSON.parse(`[${fields}, ["n", [["x", "<f2"], ["y", "<M8[ns]"]]]]`);
    expect(parts(npyHeader(typeOf(type), [2]))).toEqual({
      start: [...MAGIC, 1, 0, 0xb6, 0],
      text:
        "{'descr': [('a', '<i4'), ('b', '<f8', (2, 3)), ('c', '|u1', (2,)), " +
        "('n', [('x', '<f2'), ('y', '<M8[ns]')])], 'fortran_order': False, 'shape': (2,), }",
      length: 192,
    });
  });

  it("says how items are given, not how they are stored", () => {
    const stored = JSON.parse('[["a", ">i4"], ["b", "<i4"], ["", "|V2"]]');
    expect(parts(npyHeader(typeOf(stored), [1])).text).toContain("[('a', '<i4'), ('b', '<i4'), ('', '|V2')]");
    expect(parts(npyHeader(typeOf(">f8"), [1])).text).toContain("'<f8'");
  });

  it("quotes names as Python does; beyond Latin-1 it is UTF-8 of version 3.0", () => {
    const quoted = parts(npyHeader(typeOf([["a'b\\\n", "<i4"]]), [1]));
    expect(quoted.text).toContain("('a\\'b\\\\\\U0000000a', '<i4')");
    const utf8 = npyHeader(typeOf([["温", "<f4"]]), [1]);
    expect([...utf8.subarray(6, 12)]).toEqual([3, 0, 0x74, 0, 0, 0]);
    expect(new TextDecoder().decode(utf8)).toContain("[('温', '<f4')]");
  });

  it("is of version 2.0 when it is too long for 1.0, and refused where NumPy would pickle", () => {
    const fields = Array.from({ length: 5000 }, (_, i): JsonValue => [`field${i}`, "<f4"]);
    const header = npyHeader(typeOf(fields), [1]);
    expect(header[6]).toBe(2);
    expect(header.length % 64).toBe(0);
    expect(new DataView(header.buffer).getUint32(8, true)).toBe(header.length - 12);
    const refused = expect.objectContaining({ code: "unsupported-operation" });
    expect(() => npyHeader({ kind: "string" }, [1])).toThrow(refused);
  });
});

describe("the list of slice formats", () => {
  it.each(SLICE_FORMATS)(
    "gives the command the choice $name, its help and its file names",
    ({ name, endings, summary }) => {
      const { format } = command.options;
      expect(format?.choices).toContain(name);
      expect(format?.summary).toContain(`${name}: ${summary}`);
      for (const ending of endings) {
        expect(fileEnding(`a.${ending.toUpperCase()}`)).toMatchObject({ kind: "written", format: name });
        expect(outputFormat(`a.${ending}`, undefined)).toBe(name);
      }
    },
  );

  it("has each name and each ending once", () => {
    const names = SLICE_FORMATS.map(({ name }) => name);
    const endings = SLICE_FORMATS.flatMap((format) => [...format.endings] as string[]);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(endings).size).toBe(endings.length);
  });

  it("names its endings where a file name has one that is not written", () => {
    const endings = SLICE_FORMATS.flatMap((format) => format.endings.map((ending) => `.${ending}`));
    const details = expect.objectContaining({ hint: `Use a name ending in ${endings.join(", ")}.` });
    expect(() => outputFormat("a.nc", undefined)).toThrowError(expect.objectContaining({ details }));
  });

  it("rejects at once a format that it does not have, naming those it has", () => {
    const call = () => formattedPieces([slice("memory:none") as Slice], "xlsx" as SliceFormat);
    const details = expect.objectContaining({ expected: SLICE_FORMATS.map(({ name }) => name).join(", ") });
    expect(call).toThrowError(expect.objectContaining({ code: "invalid-option", details }));
  });
});
