import { describe, expect, it } from "vitest";
import { VariableAssembly } from "../../src/streams/assemble-variable.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import type { DecodedChunk, Region } from "../../src/streams/chunk.ts";
import { wholeSelection } from "../../src/streams/selection.ts";
import { type Buffers, plainBuffers } from "../../src/util/buffers.ts";
import { stringsOf, variableData } from "./support.ts";

function assembly(buffers: Buffers, region: Region, fill: string | null = "none"): VariableAssembly {
  const fillValue = fill === null ? null : new TextEncoder().encode(fill);
  const chunk = { shape: [4], dataType: { kind: "string" }, fillValue } as const;
  return new VariableAssembly({ chunk, region, selection: wholeSelection([20]), buffers });
}

function piece(start: number, strings: readonly string[], buffers: Buffers = plainBuffers): DecodedChunk {
  const shape = [strings.length];
  return {
    index: 0,
    coords: [0],
    region: { start: [start], shape },
    data: variableData(strings, shape, buffers),
  };
}

const second = { start: [4], shape: [4] };

describe("VariableAssembly", () => {
  it("puts each item into its place, in C order, whenever it comes", () => {
    const chunk = assembly(plainBuffers, second);
    chunk.add(piece(6, ["seven", ""]), { start: [6], shape: [2] });
    chunk.add(piece(2, ["three", "four", "fünf", "six"]), { start: [4], shape: [2] });
    const data = chunk.finish();
    expect(stringsOf(data)).toEqual(["fünf", "six", "seven", ""]);
    expect(data?.shape).toEqual([4]);
  });

  it("fills what is missing and what lies beyond the array's edge", () => {
    const chunk = assembly(plainBuffers, { start: [4], shape: [3] });
    chunk.add({ index: 0, coords: [0], region: second, data: undefined }, { start: [4], shape: [2] });
    chunk.add(piece(6, ["a very long item"]), { start: [6], shape: [1] });
    expect(stringsOf(chunk.finish())).toEqual(["none", "none", "a very long item", "none"]);
  });

  it("fills with empty items where the fill value is null", () => {
    const chunk = assembly(plainBuffers, { start: [4], shape: [1] }, null);
    chunk.add(piece(4, ["one"]), { start: [4], shape: [1] });
    expect(stringsOf(chunk.finish())).toEqual(["one", "", "", ""]);
  });

  it("has no data when nothing but missing chunks went into it", () => {
    const chunk = assembly(plainBuffers, second);
    chunk.add({ index: 0, coords: [0], region: second, data: undefined }, second);
    expect(chunk.finish()).toBeUndefined();
  });

  // S7-60
  it("copies what a piece gives, and holds one buffer in the end", () => {
    const buffers = new BufferPool(2 ** 20);
    const chunk = assembly(buffers, second);
    for (const [start, text] of [
      ["4", "x"],
      ["5", "y"],
      ["6", "z"],
      ["7", "w"],
    ] as const) {
      const given = piece(Number(start), [text], buffers);
      chunk.add(given, { start: [Number(start)], shape: [1] });
      given.data?.bytes.fill(0);
      if (given.data) buffers.give(given.data.bytes);
    }
    expect(buffers.taken).toBe(4 * 4096);
    expect(stringsOf(chunk.finish())).toEqual(["x", "y", "z", "w"]);
    expect(buffers.taken).toBe(4096);
  });
});
