// @module-tag long
import { expect, test } from "vitest";
import type { ArrayToBytesCodec, CodecContext } from "../../src/codecs/codec.ts";
import { lz4Decode } from "../../src/codecs/kernels/lz4-block.ts";
import { makeCodec } from "../../src/codecs/registry.ts";
import { decodeBytes } from "../../src/codecs/standalone/decode-bytes.ts";
import { plainBuffers } from "../../src/util/buffers.ts";
import { errorOf, specOf } from "../codecs/support.ts";
import { WasmArena } from "./wasm-arena.ts";

// What fuzzing found, each by itself.

test("an LZ4 block that gives fewer bytes than the value states is refused, also where no size is known", async () => {
  const frame = Buffer.from("AAIAAB8AAQAAHwABACwfAQEALB8DAQAsHwIBACwfAwEALB8EAQAsHwcBACdQBwcHBwc=", "base64");
  await errorOf(() => decodeBytes({ id: "lz4" }, frame), "corrupt-chunk");
});

test.each([
  ["texts", "é".repeat(700)],
  ["floats", 0.5],
  ["integers of 64 bits", 2 ** 40],
  ["names", { ["n".repeat(1500)]: null }],
])("msgpack2 writes more %s than its first buffer holds", async (_, value) => {
  const texts = Array.from({ length: 300 }, () => JSON.stringify(value));
  const bytes = new Uint8Array(Buffer.from(texts.join("")));
  const offsets = Uint32Array.from({ length: 301 }, (_, i) => i * Buffer.byteLength(texts[0] ?? ""));
  const spec = specOf([300], { kind: "object" });
  const context: CodecContext = { spec, itemSize: 1, endian: "little" };
  const codec = (await makeCodec({ name: "msgpack2", configuration: {} }, context)) as ArrayToBytesCodec;
  const data = { kind: "variable", bytes: bytes.slice(), offsets, shape: [300] } as const;
  const found = await codec.decode(await codec.encode(data, plainBuffers), plainBuffers);
  expect(Buffer.from(found.bytes).toString()).toBe(texts.join(""));
});

test("the LZ4 kernel leaves alone what lies behind a target that ends within a short match", () => {
  const frame = Buffer.from(
    "8FGLTI0FMKm92gSd9Zyz5xx55Hg2B2bYeHGPuzDbdw8h/hAmCk2Efz1l9BZwXLNl0uU4acsshSEUotzyDi2geMPr1b8TDKeahyl5OKA/" +
      "USqIRz4zIjQBABs1AQAbNgEAGzcBAPsiODg4OD/RNmsgYIV93/K5IdiuLffWJrpCyWV5Xfo4l8j7CNA5VLNBhrbTjbo6Ojo6OwEAGzwB" +
      "ABs9AQATPgEA8AlZXnjxuaG+Aqt87VuadAEhy8FpleaQHd0=",
    "base64",
  );
  const arena = new WasmArena();
  for (let size = 0; size < 600; size++) {
    const [target, twin] = [new Uint8Array(size), new Uint8Array(size)];
    const written = arena.decode("lz4Decode", frame, target);
    expect(written).toBe(lz4Decode(frame, 0, frame.length, twin, 0, size));
    if (written > 0) expect(target).toEqual(twin);
  }
});
