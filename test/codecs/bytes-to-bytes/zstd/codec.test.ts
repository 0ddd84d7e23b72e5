// @module-tag alone
import { decompress } from "@foxglove/wasm-zstd";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { ZstdLibrary } from "../../../../src/codecs/bytes-to-bytes/zstd/backend.ts";
import { maxZstdSize } from "../../../../src/codecs/bytes-to-bytes/zstd/codec.ts";
import {
  decodeZstd,
  kernelDecoder,
  zstdDecoder,
} from "../../../../src/codecs/bytes-to-bytes/zstd/decoder.ts";
import { kernelEncoder, zstdEncoder } from "../../../../src/codecs/bytes-to-bytes/zstd/encoder.ts";
import { zstdLibrary } from "../../../../src/codecs/bytes-to-bytes/zstd/library.node.ts";
import { isOverrun } from "../../../../src/codecs/failures.ts";
import { wasmKernels } from "../../kernels/kernel-pair.ts";
import { errorOf, expectSame, guarded, randomNumbers } from "../../support.ts";

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
const random = randomNumbers(4);
const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i % 100 < 60 ? random(20) : 3));

if (!wasmKernels.zstd) throw new Error("there are no kernels of zstd");
const zstdKernels = wasmKernels.zstd;

// On Node from 22.15 on the two differ.
describe.each<[string, () => ZstdLibrary]>([
  [
    "kernels alone",
    () => ({ ...kernelDecoder(zstdKernels, undefined), ...kernelEncoder(zstdKernels, undefined) }),
  ],
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

  test.each([-100, -1, 0, 1, 9, 22])("what zstd encodes at level %i, zstd decodes", (level) => {
    const part = bytes.subarray(0, 20_000);
    expectSame(decode(encode(part, level), part.length), part);
  });

  test("noise fits into the stated maximum", () => {
    for (const length of [0, 1, 1000, 131_072, 200_000]) {
      const noise = Uint8Array.from({ length }, () => random(256));
      expectSame(decode(encode(noise), length), noise);
    }
  });

  test("checksums are those of the library, and are held", async () => {
    const frame = encode(bytes, 3, true);
    expect((frame[4] ?? 0) & 4).toBe(4);
    expectSame(decompress(frame, bytes.length), bytes);
    const changed = frame.slice();
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    await errorOf(() => decode(changed, bytes.length), "corrupt-chunk");
  });

  test("several frames, and frames without a content size", () => {
    const frames = Buffer.concat([withoutSize(encode(bytes)), encode(bytes.subarray(0, 10))]);
    expectSame(decode(frames, bytes.length + 10), Buffer.concat([bytes, bytes.subarray(0, 10)]));
  });

  test("a target that is too small is an overrun, stated or not", async () => {
    const stated = await errorOf(() => decode(encode(bytes), bytes.length - 1), "corrupt-chunk");
    expect(isOverrun(stated)).toBe(true);
    const unstated = await errorOf(
      () => decode(withoutSize(encode(bytes)), bytes.length - 1),
      "corrupt-chunk",
    );
    expect(isOverrun(unstated)).toBe(true);
  });

  test("a frame that holds less than it states", async () => {
    const frame = Uint8Array.from([...MAGIC, 0x20, 9, (5 << 3) | 1, 0, 0, 1, 2, 3, 4, 5]);
    const error = await errorOf(() => decode(frame, 9), "corrupt-chunk");
    expect(isOverrun(error)).toBe(false);
  });

  test("an encoder's target that is too small", () => {
    expect(backend.encode(bytes, new Uint8Array(100), 1, false)).toBe(0);
  });
});

test("levels above the kernels' and large chunks are the library's where there is one", () => {
  const calls: number[] = [];
  const library: ZstdLibrary = {
    decodeFrame: () => -1,
    encode: (_source, _target, level) => calls.push(level),
  };
  const backend = { ...kernelDecoder(zstdKernels, library), ...kernelEncoder(zstdKernels, library) };
  const target = new Uint8Array(maxZstdSize(bytes.length));
  backend.encode(bytes, target, 0, false);
  backend.encode(bytes.subarray(0, 1000), target, 22, false);
  backend.encode(bytes.subarray(0, 1000), target, 9, false);
  expect(calls).toEqual([3, 22]);
});

describe("buffers of Node's zstd", () => {
  const constants = { ZSTD_c_compressionLevel: 100, ZSTD_c_checksumFlag: 201, ZSTD_d_windowLogMax: 100 };
  /** Answers with 10 bytes in a buffer of a size that is told what was asked for. */
  const answering = (sizeOf: (askedFor: number) => number) => {
    const transfer = vi.fn();
    const answer = (_: Uint8Array, { chunkSize }: { chunkSize: number }) => {
      const buffer = Object.assign(new ArrayBuffer(sizeOf(chunkSize)), { transfer });
      return new Uint8Array(buffer, 0, 10).fill(7);
    };
    const backend = zstdLibrary({ zstdCompressSync: answer, zstdDecompressSync: answer, constants });
    if (backend === undefined) throw new Error("this is no zstd of Node");
    return { backend, transfer };
  };

  test("are let go when their bytes have been copied, or do not fit", () => {
    const { backend, transfer } = answering((askedFor) => askedFor);
    const target = new Uint8Array(100);
    expect(backend.encode(bytes, target, 3, false)).toBe(10);
    expect(backend.decodeFrame(bytes, target.subarray(50))).toBe(10);
    expectSame(
      target,
      Uint8Array.from({ length: 100 }, (_, i) => (i % 50 < 10 ? 7 : 0)),
    );
    expect(backend.encode(bytes, target.subarray(0, 9), 3, false)).toBe(0);
    expect(backend.decodeFrame(bytes, target.subarray(0, 9))).toBe(-1);
    expect(transfer.mock.calls).toEqual([[0], [0], [0], [0]]);
  });

  test("are left alone where others have bytes in them", () => {
    const { backend, transfer } = answering((askedFor) => askedFor + 1);
    expect(backend.encode(bytes, new Uint8Array(100), 3, false)).toBe(10);
    expect(backend.decodeFrame(bytes, new Uint8Array(100))).toBe(10);
    expect(transfer).not.toHaveBeenCalled();
  });
});

describe("without WebAssembly", () => {
  test("and without a library, zstd is an unsupported codec, with a hint", async () => {
    vi.resetModules();
    vi.stubGlobal("WebAssembly", undefined);
    vi.doMock(
      "../../../../src/util/platform.node.ts",
      () => import("../../../../src/util/platform.browser.ts"),
    );
    try {
      const fresh = await import("../../../../src/codecs/bytes-to-bytes/zstd/codec.ts");
      const error = await fresh.loadZstdCodec().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "unsupported-codec", details: { hint: expect.any(String) } });
    } finally {
      vi.unstubAllGlobals();
      vi.doUnmock("../../../../src/util/platform.node.ts");
      vi.resetModules();
    }
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
