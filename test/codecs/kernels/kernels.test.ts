// @module-tag alone
import { afterEach, expect, test, vi } from "vitest";

const bytes = Uint8Array.from({ length: 4000 }, (_, i) => i / 40);
const config = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 };

/** The library as a runtime loads it that has this in place of WebAssembly. */
async function codecsWith(webAssembly: object | undefined) {
  vi.resetModules();
  vi.stubGlobal("WebAssembly", webAssembly);
  return import("../../../src/codecs/index.ts");
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test.each([
  ["missing", undefined],
  [
    "barred, or without SIMD",
    {
      Module: class {
        constructor() {
          throw new WebAssembly.CompileError("refused");
        }
      },
    },
  ],
])("where WebAssembly is %s, codecs say so", async (_, webAssembly) => {
  const { encodeBytes } = await codecsWith(webAssembly);
  await expect(encodeBytes(config, bytes, { itemSize: 4 })).rejects.toMatchObject({
    code: "unsupported-codec",
    message: expect.stringContaining("WebAssembly with SIMD is missing or blocked here"),
  });
});
