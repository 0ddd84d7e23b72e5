import { describe, expect, it } from "vitest";
import { npyHeader } from "../../../../src/flows/slabs/formats/npy.ts";
import type { DataType } from "../../../../src/meta/data-type.ts";
import { parseNumpyType } from "../../../../src/meta/v2/data-type.ts";
import type { JsonValue } from "../../../../src/util/json-value.ts";

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
    expect(parts(npyHeader(typeOf(type), shape))).toEqual({
      start: [...MAGIC, 1, 0, 0x76, 0],
      text: `{'descr': ${rest}`,
      length: 128,
    });
  });

  it("of a structure is NumPy's list of fields", () => {
    const type: JsonValue = [
      ["a", "<i4"],
      ["b", "<f8", [2, 3]],
      ["c", "|u1", [2]],
      [
        "n",
        [
          ["x", "<f2"],
          ["y", "<M8[ns]"],
        ],
      ],
    ];
    expect(parts(npyHeader(typeOf(type), [2]))).toEqual({
      start: [...MAGIC, 1, 0, 0xb6, 0],
      text:
        "{'descr': [('a', '<i4'), ('b', '<f8', (2, 3)), ('c', '|u1', (2,)), " +
        "('n', [('x', '<f2'), ('y', '<M8[ns]')])], 'fortran_order': False, 'shape': (2,), }",
      length: 192,
    });
  });

  it("says how items are given, not how they are stored", () => {
    const stored: JsonValue = [
      ["a", ">i4"],
      ["b", "<i4"],
      ["", "|V2"],
    ];
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

  it("is of version 2.0 when it is too long for 1.0", () => {
    const fields = Array.from({ length: 5000 }, (_, i): JsonValue => [`field${i}`, "<f4"]);
    const header = npyHeader(typeOf(fields), [1]);
    expect(header[6]).toBe(2);
    expect(header.length % 64).toBe(0);
    expect(new DataView(header.buffer).getUint32(8, true)).toBe(header.length - 12);
  });

  it("refuses what NumPy would pickle", () => {
    const refused = expect.objectContaining({ code: "unsupported-operation" });
    expect(() => npyHeader({ kind: "string" }, [1])).toThrow(refused);
  });
});
