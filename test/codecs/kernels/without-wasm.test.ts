// @module-tag alone
// @module-tag slow
import { afterEach, expect, test, vi } from "vitest";

// The library as a runtime loads it that has something else in place of WebAssembly.
afterEach(() => {
  vi.unstubAllGlobals();
  vi.doUnmock("../../../src/util/platform.node.ts");
  vi.resetModules();
});

class Refusing {
  constructor() {
    throw new WebAssembly.CompileError("refused");
  }
}

test.each([
  ["missing", undefined],
  ["barred, or without SIMD", { Module: Refusing }],
])("where WebAssembly is %s, codecs say so", async (_, webAssembly) => {
  vi.resetModules();
  vi.stubGlobal("WebAssembly", webAssembly);
  const { encodeBytes } = await import("../../../src/codecs/index.ts");
  const config = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 };
  const bytes = Uint8Array.from({ length: 4000 }, (_, i) => i / 40);
  await expect(encodeBytes(config, bytes, { itemSize: 4 })).rejects.toMatchObject({
    code: "unsupported-codec",
    message: expect.stringContaining("WebAssembly with SIMD is missing or blocked here"),
  });
});

test("without it and without a library, zstd is an unsupported codec, with a hint", async () => {
  vi.resetModules();
  vi.stubGlobal("WebAssembly", undefined);
  vi.doMock("../../../src/util/platform.node.ts", () => import("../../../src/util/platform.browser.ts"));
  const { loadZstdCodec } = await import("../../../src/codecs/zstd/codec.ts");
  await expect(loadZstdCodec()).rejects.toMatchObject({
    code: "unsupported-codec",
    details: { hint: expect.any(String) },
  });
});
