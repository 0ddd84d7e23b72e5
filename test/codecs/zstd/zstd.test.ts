import { compress, decompress, isLoaded } from "@foxglove/wasm-zstd";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { isOverrun } from "../../../src/codecs/limits.ts";
import { maxZstdSize } from "../../../src/codecs/zstd/codec.ts";
import { decodeZstd, kernelDecoder, zstdDecoder } from "../../../src/codecs/zstd/decoder.ts";
import { kernelEncoder, zstdEncoder } from "../../../src/codecs/zstd/encoder.ts";
import { type ZstdLibrary, zstdFrames } from "../../../src/codecs/zstd/frames.ts";
import { zstdLibrary } from "../../../src/codecs/zstd/library.node.ts";
import { wasmKernels } from "../kernels/kernel-pair.ts";
import { errorOf, expectSame, guarded, randomNumbers } from "../support.ts";

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** A skippable frame of three bytes. */
const SKIPPABLE = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
/** The last block: five bytes as they are. */
const RAW_BLOCK = [(5 << 3) | 1, 0, 0, 1, 2, 3, 4, 5];
const random = randomNumbers(4);
const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i % 100 < 60 ? random(20) : 3));
const { zstd } = wasmKernels;

beforeAll(() => isLoaded);

// On Node from 22.15 on the two differ.
describe.each<[string, () => ZstdLibrary]>([
  ["kernels alone", () => ({ ...kernelDecoder(zstd, undefined), ...kernelEncoder(zstd, undefined) })],
  ["what is loaded here", () => ({ ...zstdDecoder(), ...zstdEncoder() })],
])("zstd by %s", (_, load) => {
  let backend: ZstdLibrary;
  beforeAll(() => {
    backend = load();
  });

  const encode = (source: Uint8Array, level = 3, checksum = false) => {
    const target = new Uint8Array(maxZstdSize(source.length));
    return target.slice(0, backend.encode(source, target, level, checksum));
  };
  const decode = (source: Uint8Array, size: number) => {
    const { bytes: target, check } = guarded(size);
    const written = decodeZstd(backend, source, target);
    check();
    return target.slice(0, written);
  };

  test("decodes what it encodes, at any level, and noise fits into the stated maximum", () => {
    const part = bytes.subarray(0, 20_000);
    for (const level of [-100, -1, 0, 1, 9, 22]) expectSame(decode(encode(part, level), part.length), part);
    for (const length of [0, 1, 1000, 131_072, 200_000]) {
      const noise = Uint8Array.from({ length }, () => random(256));
      expectSame(decode(encode(noise), length), noise);
    }
  });

  test("checksums are those of the library, and are held", async () => {
    const frame = encode(bytes, 3, true);
    expect((frame[4] ?? 0) & 4).toBe(4);
    expectSame(decompress(frame, bytes.length), bytes);
    const changed = frame.with(-1, (frame.at(-1) ?? 0) ^ 1);
    await errorOf(() => decode(changed, bytes.length), "corrupt-chunk");
  });

  test("several frames, and frames without a content size", () => {
    const frames = Buffer.concat([withoutSize(encode(bytes)), encode(bytes.subarray(0, 10))]);
    expectSame(decode(frames, bytes.length + 10), Buffer.concat([bytes, bytes.subarray(0, 10)]));
  });

  test("targets that are too small are overruns, stated or not; frames that hold less are none", async () => {
    for (const frame of [encode(bytes), withoutSize(encode(bytes))])
      expect(isOverrun(await errorOf(() => decode(frame, bytes.length - 1), "corrupt-chunk"))).toBe(true);
    const short = Uint8Array.from([...MAGIC, 0x20, 9, ...RAW_BLOCK]);
    expect(isOverrun(await errorOf(() => decode(short, 9), "corrupt-chunk"))).toBe(false);
    expect(backend.encode(bytes, new Uint8Array(100), 1, false)).toBe(0);
  });
});

/** The frame with a window in place of its content size. */
function withoutSize(frame: Uint8Array): Uint8Array {
  const descriptor = frame[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const blocks = 5 + (isSingleSegment ? 0 : 1) + sizeBytes;
  return Uint8Array.from([...MAGIC, descriptor & 0x04, 0x58, ...frame.subarray(blocks)]);
}

test("levels above the kernels' and large chunks are the library's where there is one", () => {
  const calls: number[] = [];
  const library: ZstdLibrary = {
    decodeFrame: () => -1,
    encode: (_source, _target, level) => calls.push(level),
  };
  const { encode } = kernelEncoder(zstd, library);
  const target = new Uint8Array(maxZstdSize(bytes.length));
  encode(bytes, target, 0, false);
  for (const level of [22, 9]) encode(bytes.subarray(0, 1000), target, level, false);
  expect(calls).toEqual([3, 22]);
});

test("buffers of Node's zstd are let go, unless others have bytes in them", () => {
  for (const spare of [0, 1]) {
    const transfer = vi.fn();
    const answer = (_: Uint8Array, { chunkSize }: { chunkSize: number }) => {
      const buffer = Object.assign(new ArrayBuffer(chunkSize + spare), { transfer });
      return new Uint8Array(buffer, 0, 10).fill(7);
    };
    const constants = { ZSTD_c_compressionLevel: 100, ZSTD_c_checksumFlag: 201, ZSTD_d_windowLogMax: 100 };
    const node = zstdLibrary({ zstdCompressSync: answer, zstdDecompressSync: answer, constants });
    const target = new Uint8Array(100);
    expect(node?.encode(bytes, target, 3, false)).toBe(10);
    expect(node?.decodeFrame(bytes, target.subarray(50))).toBe(10);
    const copied = Uint8Array.from({ length: 100 }, (_, i) => (i % 50 < 10 ? 7 : 0));
    expectSame(target, copied);
    expect(node?.encode(bytes, target.subarray(0, 9), 3, false)).toBe(0);
    expect(node?.decodeFrame(bytes, target.subarray(0, 9))).toBe(-1);
    expect(transfer.mock.calls).toEqual(spare ? [] : [[0], [0], [0], [0]]);
  }
});

describe("frames", () => {
  const framesIn = (frame: readonly number[]) => zstdFrames(Uint8Array.from(frame));

  test("of the library's own are found with their sizes and bounds", () => {
    for (const length of [0, 1, 255, 256, 300, 65_791, 65_792, 300_000]) {
      const source = compress(bytes.subarray(0, length), 3);
      const [frame, ...others] = zstdFrames(source);
      expect(others).toEqual([]);
      expect(frame).toMatchObject({ start: 0, end: source.length, contentSize: length });
      expect(frame?.maxSize).toBeGreaterThanOrEqual(length);
    }
  });

  test("without a content size, with a window, a block of one repeated byte, and a checksum", () => {
    const run = [(1000 << 3) | (1 << 1)].flatMap((header) => [header & 255, header >> 8, 0, 7]);
    const frame = [...MAGIC, 0x04, 0x58, ...run, ...RAW_BLOCK, 0, 0, 0, 0];
    const found = { start: 0, end: frame.length, contentSize: undefined, maxSize: 1005 };
    expect(framesIn(frame)).toEqual([found]);
  });

  test("are found among skippable ones", () => {
    const one = [...compress(Uint8Array.of(1, 2, 3), 1)];
    const frames = framesIn([...SKIPPABLE, ...one, ...SKIPPABLE, ...one]);
    const starts = [SKIPPABLE.length, 2 * SKIPPABLE.length + one.length];
    expect(frames).toMatchObject(starts.map((start) => ({ start, contentSize: 3 })));
    expect(framesIn(SKIPPABLE)).toEqual([]);
  });

  test("that are cut anywhere are refused", async () => {
    const whole = [...compress(new Uint8Array(1000).fill(3), 1), ...SKIPPABLE];
    for (let length = 0; length < whole.length; length++) {
      if (length === whole.length - SKIPPABLE.length) continue;
      await errorOf(() => framesIn(whole.slice(0, length)), "corrupt-chunk");
    }
  });

  test.each([
    ["what is not zstd", [1, 2, 3, 4, 5], "corrupt-chunk"],
    ["what follows a frame", [...MAGIC, 0x20, 5, ...RAW_BLOCK, 1, 2, 3, 4], "corrupt-chunk"],
    ["reserved bits", [...MAGIC, 0x28, 5, ...RAW_BLOCK], "corrupt-chunk"],
    ["reserved blocks", [...MAGIC, 0x20, 5, (5 << 3) | 7, 0, 0, 1, 2, 3, 4, 5], "corrupt-chunk"],
    ["old formats, which are no corruption", [0x27, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0], "codec-error"],
    ["dictionaries, which are none either", [...MAGIC, 0x21, 7, 5, ...RAW_BLOCK], "codec-error"],
    ["windows beyond 2 GiB", [...MAGIC, 0x00, 0xff, ...RAW_BLOCK], "resource-limit"],
    ["contents beyond 2 GiB", [...MAGIC, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, ...RAW_BLOCK], "resource-limit"],
  ] as const)("refuse %s", async (_, frame, code) => {
    await errorOf(() => framesIn(frame), code);
    expect(framesIn([...MAGIC, 0x21, 0, 5, ...RAW_BLOCK])).toHaveLength(1);
  });
});
