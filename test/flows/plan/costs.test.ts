import { expect, test } from "vitest";
import { type CostRequest, costOf } from "../../../src/flows/plan/costs.ts";
import type { GridSide } from "../../../src/flows/plan/plan.ts";

const shape = [1024, 256, 512];

function side(chunkShape: number[], codecs: string[]): GridSide {
  const decodedSize = 4 * chunkShape.reduce((product, n) => product * n, 1);
  return {
    dialect: "v2",
    chunkKeyEncoding: { name: "plain", separator: "." },
    shape,
    chunkShape,
    codecs,
    decodedSize,
    maxEncodedSize: decodedSize + 16,
    scratchSize: 0,
    pooledScratchSize: 0,
  };
}

/** What it is predicted to take in windows of so many target chunks, each source chunk read as often as windows touch it. */
function secondsIn(window: number[], visits: number, ...codecs: string[]): number {
  const request: CostRequest = {
    sides: { source: side([1, 256, 512], codecs), target: side([1024, 16, 32], []) },
    items: 1024 * 256 * 512,
    chunksWritten: 256,
    windows: { window, readAhead: 1, taskBytes: 1, bufferBytes: 1, chunksRead: 1024 * visits },
    tasks: visits,
    maxMemory: 2 ** 28,
    tasksAtOnce: 1,
    threads: 1,
    io: 16,
    remote: { source: false, target: false, scratch: false },
  };
  return costOf(request).seconds;
}

test.each(["blosc(lz4, 5, shuffle)", "lz4(1)"])(
  "bands of rows take prefixes of chunks behind %s",
  (codec) => {
    const bands = secondsIn([1, 2, 16], 8, "bytes(little)", codec);
    const columns = secondsIn([1, 16, 2], 8, "bytes(little)", codec);
    expect(bands).toBeLessThan(columns);
    expect(secondsIn([1, 16, 16], 1, "bytes(little)", codec)).toBeLessThan(bands);
  },
);

test.each(["zstd(5)", "crc32c"])("behind %s every window decodes whole chunks", (codec) => {
  const codecs = ["bytes(little)", "blosc(lz4, 5, shuffle)", codec];
  expect(secondsIn([1, 2, 16], 8, ...codecs)).toBe(secondsIn([1, 16, 2], 8, ...codecs));
});
