const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  return crc;
});

/** bzip2's CRC-32 of `bytes[start, end)`: the polynomial of zip, but the highest bit first. */
export function blockCrc(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1;
  for (let i = start; i < end; i++) {
    crc = (crc << 8) ^ (table[(crc >>> 24) ^ (bytes[i] as number)] as number);
  }
  return ~crc >>> 0;
}

/** The CRC of a stream after one more block. */
export function streamCrc(before: number, block: number): number {
  return (((before << 1) | (before >>> 31)) ^ block) >>> 0;
}
