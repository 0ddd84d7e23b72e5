import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FixedData } from "../../src/codecs/chunk-data.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import type { DecodedChunk } from "../../src/streams/chunk.ts";
import { regrid } from "../../src/streams/regrid.ts";
import { streamFrom } from "../../src/streams/web.ts";
import { cStrides, product } from "../../src/util/shape.ts";
import {
  collect,
  failOnUnhandledRejections,
  itemsOf,
  rejection,
  stringsOf,
  variableData,
} from "./support.ts";

failOnUnhandledRejections();

const FILL = 255;

function target(chunkShape: readonly number[], others: readonly number[]) {
  const chunk = {
    shape: chunkShape,
    dataType: { kind: "uint", size: 1 },
    fillValue: Uint8Array.of(FILL),
  } as const;
  return { shape: [0, ...others], chunk };
}

/** Rows `[from, from + count)`, whose items hold the number of their row. */
function rows(index: number, from: number, count: number, others: readonly number[]): DecodedChunk {
  const shape = [count, ...others];
  const bytes = Uint8Array.from({ length: product(shape) }, (_, i) => from + Math.floor(i / product(others)));
  const data: FixedData = { kind: "fixed", bytes, itemSize: 1, shape, strides: cStrides(shape) };
  return { index, coords: [index], region: { start: [from, ...others.map(() => 0)], shape }, data };
}

describe("regrid with a growing first dimension", () => {
  it("cuts the last chunks where the rows end, and fills them up, whatever the pieces", async () => {
    const cases = fc.record({
      counts: fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 8 }),
      chunkRows: fc.integer({ min: 1, max: 9 }),
      width: fc.integer({ min: 1, max: 5 }),
      chunkWidth: fc.integer({ min: 1, max: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ counts, chunkRows, width, chunkWidth }) => {
        const starts = counts.map((_, i) => counts.slice(0, i).reduce((sum, n) => sum + n, 0));
        const length = counts.reduce((sum, n) => sum + n, 0);
        const pieces = counts.map((count, i) => rows(i, starts[i] ?? 0, count, [width]));
        const buffers = new BufferPool(2 ** 20);
        buffers.give(buffers.take(4096).fill(77));
        const chunks = await collect(
          streamFrom(pieces).pipeThrough(
            regrid(target([chunkRows, chunkWidth], [width]), { growing: true, buffers }),
          ),
        );
        expect(chunks.length).toBe(
          Math.ceil(length / chunkRows) * (length > 0 ? Math.ceil(width / chunkWidth) : 0),
        );
        for (const { coords, region, data } of chunks) {
          const [row = 0, column = 0] = coords;
          expect(region).toEqual({
            start: [row * chunkRows, column * chunkWidth],
            shape: [
              Math.min(chunkRows, length - row * chunkRows),
              Math.min(chunkWidth, width - column * chunkWidth),
            ],
          });
          const items = itemsOf(data).flat();
          items.forEach((item, i) => {
            const y = row * chunkRows + Math.floor(i / chunkWidth);
            const x = column * chunkWidth + (i % chunkWidth);
            expect(item).toBe(y < length && x < width ? y : FILL);
          });
        }
      }),
      { numRuns: 100 },
    );
  });

  it("fills up chunks of strings too", async () => {
    const chunk = {
      shape: [4],
      dataType: { kind: "string" },
      fillValue: new TextEncoder().encode("-"),
    } as const;
    const buffers = new BufferPool(2 ** 16);
    const piece: DecodedChunk = {
      index: 0,
      coords: [0],
      region: { start: [0], shape: [3] },
      data: variableData(["a", "bc", ""], [3], buffers),
    };
    const [only] = await collect(
      streamFrom([piece]).pipeThrough(regrid({ shape: [0], chunk }, { growing: true, buffers })),
    );
    expect(only?.region).toEqual({ start: [0], shape: [3] });
    expect(stringsOf(only?.data)).toEqual(["a", "bc", "", "-"]);
  });

  it("passes a chunk on without data when all of its rows are missing", async () => {
    const missing = { ...rows(0, 0, 3, [2]), data: undefined };
    const [only] = await collect(
      streamFrom([missing]).pipeThrough(regrid(target([4, 2], [2]), { growing: true })),
    );
    expect(only).toMatchObject({ region: { start: [0, 0], shape: [3, 2] }, data: undefined });
  });

  it("still wants every row before the end", async () => {
    const error = await rejection(
      collect(
        streamFrom([rows(0, 0, 1, [2]), rows(1, 2, 1, [2])]).pipeThrough(
          regrid(target([4, 2], [2]), { growing: true }),
        ),
      ),
    );
    expect(error).toMatchObject({ code: "invalid-option", details: { coords: [0, 0] } });
  });
});
