import { MAX_ALPHABET, RUN_A, RUN_B } from "./format.ts";

/** The last column of a block as symbols: positions in a move-to-front list, with counted zeros. */
export interface ListSymbols {
  readonly symbols: Uint16Array;
  /** Number of occurrences of each symbol; as long as the alphabet. */
  readonly counts: Int32Array;
  /** 1 for each byte value that occurs. */
  readonly used: Uint8Array;
}

/** For moves shorter than this a loop is faster than a call. */
const SHORT_MOVE = 24;

/** @param space receives the symbols; one entry longer than the column. */
export function listSymbols(column: Uint8Array, space: Uint16Array): ListSymbols {
  const used = new Uint8Array(256);
  for (let i = 0; i < column.length; i++) used[column[i] as number] = 1;
  const list = Uint8Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => used[byte] === 1);
  const end = list.length + 1;
  const counts = new Int32Array(MAX_ALPHABET);
  let size = 0;
  let zeros = 0;

  const put = (symbol: number) => {
    space[size++] = symbol;
    counts[symbol] = (counts[symbol] as number) + 1;
  };
  /** Writes the count of zeros in digits one and two, the lowest first. */
  const putZeros = () => {
    for (let left = zeros; left > 0; left = (left - 1) >> 1) put(left & 1 ? RUN_A : RUN_B);
    zeros = 0;
  };

  let front = list[0];
  for (let i = 0; i < column.length; i++) {
    const byte = column[i] as number;
    if (byte === front) {
      zeros++;
      continue;
    }
    if (zeros > 0) putZeros();
    const place = placeOf(byte, list);
    if (place < SHORT_MOVE) for (let k = place; k > 0; k--) list[k] = list[k - 1] as number;
    else list.copyWithin(1, 0, place);
    list[0] = byte;
    front = byte;
    put(place + 1);
  }
  putZeros();
  put(end);
  return { symbols: space.subarray(0, size), counts: counts.subarray(0, end + 1), used };
}

function placeOf(byte: number, list: Uint8Array): number {
  const near = Math.min(SHORT_MOVE, list.length);
  for (let place = 1; place < near; place++) if (list[place] === byte) return place;
  return list.indexOf(byte, near);
}
