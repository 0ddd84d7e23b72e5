import { describe, expect, it } from "vitest";
import { ByteBudget } from "../../src/streams/byte-budget.ts";
import { together } from "../../src/streams/read-together.ts";
import { mergeRanges } from "../../src/util/merge-ranges.ts";

const KIB = 1024;
const MIB = KIB * KIB;

interface Case {
  readonly count?: number;
  readonly chunk?: number;
  readonly limit?: number;
  readonly perChunk?: number;
  readonly isFar?: boolean;
}

/** Lengths of the requests for chunks that lie side by side, and the leases of each. */
function requests({ count = 64, chunk = 256 * KIB, limit = 256 * MIB, perChunk, isFar = true }: Case) {
  const inFlight =
    limit === 0 ? undefined : { budget: new ByteBudget(limit), bytesPerChunk: perChunk ?? 3 * chunk };
  const reading = together<{ range: { offset: number; length: number } }>({
    inFlight,
    isFar,
    bytesOf: ({ range }) => range.length,
  });
  const parts = Array.from({ length: count }, (_, i) => ({ range: { offset: i * chunk, length: chunk } }));
  const merged = mergeRanges(parts, { fits: reading.fits, mostTogether: Number.POSITIVE_INFINITY });
  return merged.map((range) => [range.length / KIB, reading.leases(range.parts, range.length)]);
}

describe("chunks that are read in one request", () => {
  it("are 16 in up to 8 MiB far away, more in 1 MiB, and no more than 1 MiB near", () => {
    expect(requests({})).toEqual(Array.from({ length: 4 }, () => [4096, 16]));
    expect(requests({ chunk: MIB, count: 16 })).toEqual(Array.from({ length: 2 }, () => [8192, 8]));
    expect(requests({ chunk: 16 * KIB, count: 128 })).toEqual(Array.from({ length: 2 }, () => [1024, 64]));
    expect(requests({ isFar: false, count: 8 })).toEqual(Array.from({ length: 2 }, () => [1024, 4]));
  });

  it("are so few that four requests fit what may be in flight", () => {
    expect(requests({ limit: 24 * MIB, count: 16 })).toEqual([
      [2048, 8],
      [2048, 8],
    ]);
    expect(requests({ limit: 0, count: 8 })).toEqual(Array.from({ length: 2 }, () => [1024, 4]));
  });

  it("take more leases far away where those of the parts are too small, and are apart near", () => {
    const chunk = 64 * KIB;
    expect(requests({ chunk, perChunk: chunk, count: 16 })).toEqual([[1024, 32]]);
    expect(requests({ chunk, perChunk: chunk, count: 2, isFar: false })).toEqual([
      [64, 1],
      [64, 1],
    ]);
  });
});
