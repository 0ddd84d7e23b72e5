import { expect, test } from "vitest";
import { chooseBlockSize, splitsBlocks } from "../../../../src/codecs/bytes-to-bytes/blosc/block-size.ts";
import type { InnerName } from "../../../../src/codecs/bytes-to-bytes/blosc/frame.ts";

// Block sizes in headers that c-blosc 1.21 wrote: inner codec, item size, level, bytes, block size, split.
test.each<[string, number, number, number, number, boolean]>([
  ["lz4", 1, 1, 1200000, 65536, true],
  ["lz4", 1, 9, 130000, 130000, true],
  ["lz4", 2, 7, 40000000, 524288, true],
  ["lz4", 3, 5, 399999, 393216, true],
  ["lz4", 4, 3, 66000, 66000, true],
  ["lz4", 4, 9, 5000000, 1048576, true],
  ["lz4", 8, 8, 150000, 150000, true],
  ["lz4", 16, 7, 32992, 32992, true],
  ["lz4", 24, 3, 1200000, 65520, false],
  ["lz4hc", 1, 1, 130000, 65536, true],
  ["lz4hc", 1, 9, 400000, 262144, true],
  ["lz4hc", 2, 8, 5000000, 524288, true],
  ["lz4hc", 3, 8, 66000, 66000, true],
  ["lz4hc", 4, 7, 150000, 150000, true],
  ["lz4hc", 8, 5, 1200000, 1048576, true],
  ["lz4hc", 16, 5, 32992, 32992, true],
  ["lz4hc", 24, 3, 129984, 129984, false],
  ["blosclz", 1, 1, 400000, 65536, true],
  ["blosclz", 1, 9, 66000, 66000, true],
  ["blosclz", 2, 7, 5000000, 524288, true],
  ["blosclz", 3, 5, 150000, 150000, true],
  ["blosclz", 4, 3, 33000, 33000, true],
  ["blosclz", 4, 9, 1200000, 1048576, true],
  ["blosclz", 8, 8, 130000, 130000, true],
  ["blosclz", 16, 5, 40000000, 1048576, true],
  ["blosclz", 24, 3, 399984, 65520, false],
  ["zlib", 1, 1, 66000, 65536, true],
  ["zlib", 1, 9, 150000, 150000, true],
  ["zlib", 2, 8, 1200000, 524288, true],
  ["zlib", 3, 8, 33000, 33000, true],
  ["zlib", 4, 7, 130000, 130000, true],
  ["zlib", 8, 5, 400000, 400000, true],
  ["zlib", 16, 3, 5000000, 1048576, true],
  ["zlib", 24, 3, 66000, 66000, false],
  ["zstd", 1, 1, 150000, 32768, false],
  ["zstd", 1, 9, 1200000, 1048576, false],
  ["zstd", 2, 9, 33000, 33000, false],
  ["zstd", 3, 8, 129999, 129999, false],
  ["zstd", 4, 7, 400000, 400000, false],
  ["zstd", 8, 5, 5000000, 262144, false],
  ["zstd", 16, 5, 66000, 66000, false],
  ["zstd", 24, 3, 150000, 131064, false],
])("%s, items of %i, level %i, %i bytes: blocks of %i", (cname, typeSize, level, size, blockSize, split) => {
  const inner = (cname === "lz4hc" ? "lz4" : cname) as InnerName;
  const highRatio = ["lz4hc", "zlib", "zstd"].includes(cname);
  expect(chooseBlockSize(size, typeSize, level, inner, highRatio, 0)).toBe(blockSize);
  expect(splitsBlocks(inner, typeSize, blockSize)).toBe(split);
});

test("a stated size is kept within what can be, and is whole items", () => {
  const choose = (wanted: number) => chooseBlockSize(1_000_000, 12, 0, "lz4", false, wanted);
  expect(choose(1000)).toBe(996);
  expect(choose(1)).toBe(120);
  expect(choose(2 ** 31 - 20)).toBe(999_996);
});

test("data smaller than an item", () => {
  expect(chooseBlockSize(3, 4, 5, "lz4", false, 0)).toBe(1);
});
