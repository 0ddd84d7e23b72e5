import { expect, test } from "vitest";
import { type CostRequest, costOf } from "../../../src/flows/plan/costs.ts";
import type { GridSide } from "../../../src/flows/plan/plan.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import { costClassOf, decodesParts } from "../../../src/meta/codec-costs.ts";

const shape = [1024, 256, 512];

function side(chunkShape: number[], codecs: readonly CodecConfig[]): GridSide {
  const decodedSize = 4 * chunkShape.reduce((product, n) => product * n, 1);
  return {
    zarrFormat: "v2",
    chunkKeyEncoding: { name: "plain", separator: "." },
    shape,
    chunkShape,
    codecs: codecs.map((codec) => ({ ...codec, costClass: costClassOf(codec) })),
    decodesParts: decodesParts(codecs),
    decodedSize,
    maxEncodedSize: decodedSize + 16,
    scratchSize: 0,
    pooledScratchSize: 0,
  };
}

/** What it is predicted to take in windows of so many target chunks, each source chunk read as often as windows touch it. */
function secondsIn(window: number[], visits: number, ...codecs: CodecConfig[]): number {
  const request: CostRequest = {
    sides: { source: side([1, 256, 512], codecs), target: side([1024, 16, 32], []) },
    items: 1024 * 256 * 512,
    chunksTouched: 1024,
    chunksWritten: 256,
    windows: { window, readAhead: 1, leaseBytes: 1, expectedBytes: 1, chunksRead: 1024 * visits },
    tasks: visits,
    maxMemory: 2 ** 28,
    tasksAtOnce: 1,
    threads: 1,
    concurrency: 16,
    profiles: {},
  };
  return costOf(request).seconds;
}

const codec = (name: string, configuration: CodecConfig["configuration"] = {}) => ({ name, configuration });
const BYTES = codec("bytes", { endian: "little" });
const BLOSC = codec("blosc", { cname: "lz4", clevel: 5, shuffle: "shuffle" });

test.each([BLOSC, codec("lz4", { acceleration: 1 })])(
  "bands of rows take prefixes of chunks behind $name",
  (compressor) => {
    const bands = secondsIn([1, 2, 16], 8, BYTES, compressor);
    const columns = secondsIn([1, 16, 2], 8, BYTES, compressor);
    expect(bands).toBeLessThan(columns);
    expect(secondsIn([1, 16, 16], 1, BYTES, compressor)).toBeLessThan(bands);
  },
);

test.each([codec("zstd", { level: 5 }), codec("crc32c")])(
  "behind $name every window decodes whole chunks",
  (last) => {
    const codecs = [BYTES, BLOSC, last];
    expect(secondsIn([1, 2, 16], 8, ...codecs)).toBe(secondsIn([1, 16, 2], 8, ...codecs));
  },
);
