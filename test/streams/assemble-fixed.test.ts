import { describe, expect, it } from "vitest";
import type { ChunkData } from "../../src/codecs/chunk-data.ts";
import { FixedAssembly } from "../../src/streams/assemble-fixed.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import type { DecodedChunk, Region } from "../../src/streams/chunk.ts";
import { wholeSelection } from "../../src/streams/selection.ts";

const fill = 7;

function assembly(buffers: BufferPool, region: Region, strides = [1]): FixedAssembly {
  const chunk = {
    shape: [4],
    dataType: { kind: "uint", size: 1 },
    fillValue: new Uint8Array([fill]),
  } as const;
  return new FixedAssembly({ chunk, region, strides, selection: wholeSelection([20]), buffers });
}

function piece(
  start: number,
  items: readonly number[] | undefined,
  length = items?.length ?? 0,
): DecodedChunk {
  const data: ChunkData | undefined = items && {
    kind: "fixed",
    bytes: new Uint8Array(items),
    itemSize: 1,
    shape: [items.length],
    strides: [1],
  };
  return { index: 0, coords: [0], region: { start: [start], shape: [length] }, data };
}

const second = { start: [4], shape: [4] };

describe("FixedAssembly", () => {
  it("takes one buffer, with the first data", () => {
    const buffers = new BufferPool(2 ** 20);
    const chunk = assembly(buffers, second);
    chunk.add(piece(4, undefined, 1), { start: [4], shape: [1] });
    expect(buffers.taken).toBe(0);
    chunk.add(piece(5, [1, 2]), { start: [5], shape: [2] });
    chunk.add(piece(7, [3]), { start: [7], shape: [1] });
    expect(buffers.taken).toBe(4096);
    expect(chunk.finish()).toEqual({
      kind: "fixed",
      bytes: new Uint8Array([fill, 1, 2, 3]),
      itemSize: 1,
      shape: [4],
      strides: [1],
    });
  });

  it("fills what is missing also when that comes last", () => {
    const buffers = new BufferPool(2 ** 20);
    buffers.give(buffers.take(4).fill(99));
    const chunk = assembly(buffers, second);
    chunk.add(piece(3, [0, 1]), { start: [4], shape: [1] });
    chunk.add(piece(5, undefined, 9), { start: [5], shape: [3] });
    expect(chunk.finish()?.bytes).toEqual(new Uint8Array([1, fill, fill, fill]));
  });

  it("fills what lies beyond the array's edge", () => {
    const buffers = new BufferPool(2 ** 20);
    buffers.give(buffers.take(4).fill(99));
    const chunk = assembly(buffers, { start: [4], shape: [2] });
    chunk.add(piece(4, [1, 2]), { start: [4], shape: [2] });
    expect(chunk.finish()?.bytes).toEqual(new Uint8Array([1, 2, fill, fill]));
  });

  it("has no data when nothing but missing chunks went into it", () => {
    const buffers = new BufferPool(2 ** 20);
    const chunk = assembly(buffers, second);
    chunk.add(piece(0, undefined, 20), second);
    expect(chunk.finish()).toBeUndefined();
    expect(buffers.peak).toBe(0);
  });

  it("leaves the piece to its owner", () => {
    const buffers = new BufferPool(2 ** 20);
    const data: ChunkData = {
      kind: "fixed",
      bytes: buffers.take(4).fill(1),
      itemSize: 1,
      shape: [4],
      strides: [1],
    };
    const chunk = assembly(buffers, second);
    chunk.add({ index: 0, coords: [1], region: second, data }, second);
    expect(buffers.taken).toBe(2 * 4096);
    expect(chunk.finish()?.bytes.buffer).not.toBe(data.bytes.buffer);
  });
});
