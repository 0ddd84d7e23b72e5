/** CRC-32C, reflected polynomial 0x82f63b78, sixteen bytes per step. */

/** Sixteen tables of 256 entries: the CRC of each byte followed by 0 to 15 zero bytes. */
const TABLES = memory.data(16 * 1024, 16);

for (let byte: u32 = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? 0x82f6_3b78 : 0);
  store<u32>(TABLES + (byte << 2), crc);
}
for (let i: usize = 256; i < 16 * 256; i++) {
  const crc = load<u32>(TABLES + ((i - 256) << 2));
  store<u32>(TABLES + (i << 2), (crc >> 8) ^ load<u32>(TABLES + ((crc & 255) << 2)));
}

/** The running CRC, inverted, after the `length` bytes at `source`. */
export function crc32c(crc: u32, source: usize, length: usize): u32 {
  let s = source;
  const end = s + length;
  for (; s + 16 <= end; s += 16) {
    const a = load<u64>(s) ^ <u64>crc;
    crc = four(<u32>a, 12) ^ four(<u32>(a >> 32), 8) ^ four(load<u32>(s, 8), 4) ^ four(load<u32>(s, 12), 0);
  }
  for (; s < end; s++) crc = (crc >> 8) ^ load<u32>(TABLES + (((crc ^ <u32>load<u8>(s)) & 255) << 2));
  return crc;
}

/** The contribution of four bytes that are followed by `behind` other bytes. */
// @ts-ignore: decorator
@inline
function four(word: u32, behind: usize): u32 {
  return (
    load<u32>(TABLES + ((behind + 3) << 10) + ((word & 255) << 2)) ^
    load<u32>(TABLES + ((behind + 2) << 10) + (((word >> 8) & 255) << 2)) ^
    load<u32>(TABLES + ((behind + 1) << 10) + (((word >> 16) & 255) << 2)) ^
    load<u32>(TABLES + (behind << 10) + ((word >> 24) << 2))
  );
}
