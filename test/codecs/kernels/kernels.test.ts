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

test("WebAssembly runs where it is there", async () => {
  const { kernelKind } = await codecsWith(WebAssembly);
  expect(kernelKind()).toBe("wasm");
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
])("plain TypeScript runs where WebAssembly is %s, and gives the same", async (_, webAssembly) => {
  const { decodeBytes: decodeByWasm, encodeBytes: encodeByWasm } = await codecsWith(WebAssembly);
  const encodedByWasm = await encodeByWasm(config, bytes, { itemSize: 4 });
  const { decodeBytes, encodeBytes, kernelKind } = await codecsWith(webAssembly);
  expect(kernelKind()).toBe("plain");
  const encoded = await encodeBytes(config, bytes, { itemSize: 4 });
  expect(await decodeBytes(config, encodedByWasm)).toEqual(bytes);
  vi.unstubAllGlobals();
  expect(await decodeByWasm(config, encoded)).toEqual(bytes);
});
