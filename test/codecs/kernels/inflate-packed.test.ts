import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { inflatePacked } from "../../../src/codecs/kernels/inflate-packed.ts";
import { packedWasm, WASM_SIZE } from "../../../src/codecs/kernels/wasm-bytes.ts";

test("the kernels are inflated as Node does", () => {
  const packed = Buffer.from(packedWasm, "base64");
  const inflated = inflatePacked(packed, WASM_SIZE);
  expect(Buffer.compare(inflated, inflateRawSync(packed))).toBe(0);
  expect(WebAssembly.validate(inflated)).toBe(true);
});
