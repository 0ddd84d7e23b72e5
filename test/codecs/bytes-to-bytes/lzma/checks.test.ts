import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { crc64 } from "../../../../src/codecs/bytes-to-bytes/lzma/crc64.ts";
import { sha256 } from "../../../../src/codecs/bytes-to-bytes/lzma/sha256.ts";
import { guarded, randomNumbers } from "../../support.ts";

const random = randomNumbers(2);
const noise = Uint8Array.from({ length: 1000 }, () => random(256));

/** Bit by bit, as the definition has it. */
function plainCrc64(bytes: Uint8Array): bigint {
  let crc = 2n ** 64n - 1n;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = (crc >> 1n) ^ (crc & 1n ? 0xc96c_5795_d787_0f42n : 0n);
  }
  return crc ^ (2n ** 64n - 1n);
}

const asNumber = (sum: Uint8Array) => new DataView(sum.buffer).getBigUint64(0, true);

test("CRC-64 of the usual digits", () => {
  expect(asNumber(crc64(new TextEncoder().encode("123456789")))).toBe(0x995d_c9bb_df19_39fan);
});

test("CRC-64 of every length, unaligned", () => {
  for (let length = 0; length < 40; length++) {
    const { bytes } = guarded(length);
    bytes.set(noise.subarray(0, length));
    expect(asNumber(crc64(bytes))).toBe(plainCrc64(bytes));
  }
});

test("SHA-256 as the runtime has it, around its blocks and unaligned", () => {
  for (const length of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000]) {
    const { bytes } = guarded(length);
    bytes.set(noise.subarray(0, length));
    expect(Buffer.from(sha256(bytes)).toString("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
  }
});
