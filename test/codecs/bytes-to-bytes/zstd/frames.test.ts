import { compress, isLoaded } from "@foxglove/wasm-zstd";
import { beforeAll, describe, expect, test } from "vitest";
import { zstdFrames } from "../../../../src/codecs/bytes-to-bytes/zstd/frames.ts";
import { errorOf, randomNumbers } from "../../support.ts";

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** A skippable frame of three bytes. */
const SKIPPABLE = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
/** The last block: five bytes as they are. */
const RAW_BLOCK = [(5 << 3) | 1, 0, 0, 1, 2, 3, 4, 5];

beforeAll(async () => {
  await isLoaded;
});

describe("finds frames, their sizes and bounds", () => {
  test("of the library's own", () => {
    const random = randomNumbers(1);
    for (const length of [0, 1, 255, 256, 300, 65_791, 65_792, 300_000]) {
      const source = compress(
        Uint8Array.from({ length }, () => random(3)),
        3,
      );
      const [frame, ...others] = zstdFrames(source);
      expect(others).toEqual([]);
      expect(frame).toMatchObject({ start: 0, end: source.length, contentSize: length });
      expect(frame?.maxSize).toBeGreaterThanOrEqual(length);
    }
  });

  test("without a content size, with a window, a block of one repeated byte, and a checksum", () => {
    const run = [(1000 << 3) | (1 << 1)].flatMap((header) => [header & 255, header >> 8, 0, 7]);
    const frame = [...MAGIC, 0x04, 0x58, ...run, ...RAW_BLOCK, 0, 0, 0, 0];
    expect(zstdFrames(Uint8Array.from(frame))).toEqual([
      { start: 0, end: frame.length, contentSize: undefined, maxSize: 1005 },
    ]);
  });

  test("several, among skippable ones", () => {
    const one = [...compress(Uint8Array.of(1, 2, 3), 1)];
    const frames = zstdFrames(Uint8Array.from([...SKIPPABLE, ...one, ...SKIPPABLE, ...one]));
    expect(frames.map(({ start, contentSize }) => [start, contentSize])).toEqual([
      [SKIPPABLE.length, 3],
      [2 * SKIPPABLE.length + one.length, 3],
    ]);
    expect(zstdFrames(Uint8Array.from(SKIPPABLE))).toEqual([]);
  });
});

describe("refuses", () => {
  const refuse = (bytes: readonly number[], ...codes: Parameters<typeof errorOf>[1][]) =>
    errorOf(() => zstdFrames(Uint8Array.from(bytes)), ...codes);

  test("a frame that is cut anywhere is refused", async () => {
    const whole = [...compress(new Uint8Array(1000).fill(3), 1), ...SKIPPABLE];
    const borders = [whole.length - SKIPPABLE.length];
    for (let length = 0; length < whole.length; length++) {
      if (!borders.includes(length)) await refuse(whole.slice(0, length), "corrupt-chunk");
    }
  });

  test("what is not zstd, or follows it", async () => {
    await refuse([1, 2, 3, 4, 5], "corrupt-chunk");
    await refuse([...compress(Uint8Array.of(1), 1), 1, 2, 3, 4], "corrupt-chunk");
  });

  test("old formats and dictionaries, which are no corruption", async () => {
    await refuse([0x27, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0], "codec-error");
    await refuse([...MAGIC, 0x21, 7, 5, ...RAW_BLOCK], "codec-error");
    expect(zstdFrames(Uint8Array.from([...MAGIC, 0x21, 0, 5, ...RAW_BLOCK]))).toHaveLength(1);
  });

  test("reserved bits and blocks", async () => {
    await refuse([...MAGIC, 0x28, 5, ...RAW_BLOCK], "corrupt-chunk");
    await refuse([...MAGIC, 0x20, 5, (5 << 3) | 7, 0, 0, 1, 2, 3, 4, 5], "corrupt-chunk");
  });

  test("windows beyond 2 GiB", async () => {
    await refuse([...MAGIC, 0x00, 0xff, ...RAW_BLOCK], "resource-limit");
    await refuse([...MAGIC, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, ...RAW_BLOCK], "resource-limit");
  });
});
