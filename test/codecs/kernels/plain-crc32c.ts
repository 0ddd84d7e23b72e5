import { wordsOf } from "../../../src/codecs/kernels/words.ts";

/** Eight tables of 256: the CRC of each byte followed by 0 to 7 zero bytes. */
const tables = new Int32Array(8 * 256);
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f6_3b78 : 0);
  tables[byte] = crc;
}
for (let i = 256; i < tables.length; i++) {
  const crc = tables[i - 256] as number;
  tables[i] = (crc >>> 8) ^ (tables[crc & 255] as number);
}

/** CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), eight bytes a step. */
export function crc32c(bytes: Uint8Array): number {
  const words = wordsOf(bytes);
  let crc = -1;
  let i = 0;
  for (const end = bytes.length - 7; i < end; i += 8) {
    const low = words.getInt32(i, true) ^ crc;
    const high = words.getInt32(i + 4, true);
    crc =
      (tables[1792 | (low & 255)] as number) ^
      (tables[1536 | ((low >>> 8) & 255)] as number) ^
      (tables[1280 | ((low >>> 16) & 255)] as number) ^
      (tables[1024 | (low >>> 24)] as number) ^
      (tables[768 | (high & 255)] as number) ^
      (tables[512 | ((high >>> 8) & 255)] as number) ^
      (tables[256 | ((high >>> 16) & 255)] as number) ^
      (tables[high >>> 24] as number);
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ (tables[(crc ^ words.getUint8(i)) & 255] as number);
  return ~crc >>> 0;
}
