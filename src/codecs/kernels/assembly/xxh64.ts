/** XXH64 with seed 0; zstd frames store its low 32 bits as their checksum. */

const P1: u64 = 0x9e37_79b1_85eb_ca87;
const P2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const P3: u64 = 0x1656_67b1_9e37_79f9;
const P4: u64 = 0x85eb_ca77_c2b2_ae63;
const P5: u64 = 0x27d4_eb2f_1656_67c5;

export function checksum(start: usize, end: usize): u32 {
  const length = <u64>(end - start);
  let s = start;
  let hash = P5;
  if (length >= 32) {
    let a = P1 + P2;
    let b = P2;
    let c: u64 = 0;
    let d: u64 = 0 - P1;
    for (; s + 32 <= end; s += 32) {
      a = round(a, load<u64>(s));
      b = round(b, load<u64>(s, 8));
      c = round(c, load<u64>(s, 16));
      d = round(d, load<u64>(s, 24));
    }
    hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18);
    hash = (hash ^ round(0, a)) * P1 + P4;
    hash = (hash ^ round(0, b)) * P1 + P4;
    hash = (hash ^ round(0, c)) * P1 + P4;
    hash = (hash ^ round(0, d)) * P1 + P4;
  }
  hash += length;
  for (; s + 8 <= end; s += 8) hash = rotl<u64>(hash ^ round(0, load<u64>(s)), 27) * P1 + P4;
  if (s + 4 <= end) {
    hash = rotl<u64>(hash ^ (<u64>load<u32>(s) * P1), 23) * P2 + P3;
    s += 4;
  }
  for (; s < end; s++) hash = rotl<u64>(hash ^ (<u64>load<u8>(s) * P5), 11) * P1;
  hash = (hash ^ (hash >> 33)) * P2;
  hash = (hash ^ (hash >> 29)) * P3;
  return <u32>(hash ^ (hash >> 32));
}

// @ts-ignore: decorator
@inline
function round(lane: u64, input: u64): u64 {
  return rotl<u64>(lane + input * P2, 31) * P1;
}
