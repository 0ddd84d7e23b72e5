import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { inflatePacked } from "../../../src/codecs/kernels/inflate-packed.ts";
import { packedWasm as codecs } from "../../../src/codecs/kernels/wasm-bytes/codecs.ts";
import { packedWasm as reading } from "../../../src/codecs/kernels/wasm-bytes/reading.ts";

test.each(Object.entries({ reading, codecs }))(
  "the kernels of %s are inflated as Node does",
  (_, { base64, size }) => {
    const packed = Buffer.from(base64, "base64");
    const inflated = inflatePacked(packed, size);
    expect(Buffer.compare(inflated, inflateRawSync(packed))).toBe(0);
    expect(WebAssembly.validate(inflated)).toBe(true);
  },
);
