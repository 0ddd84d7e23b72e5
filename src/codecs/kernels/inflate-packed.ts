/** A Huffman code: the number of codes of each length, and their symbols in order. */
interface Codes {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

const MAX_LENGTH = 15;
/** The order in which code lengths are stored (RFC 1951, 3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Extra bits after the symbol of a length and of a distance. */
const lengthBits = (symbol: number) => (symbol < 8 || symbol === 28 ? 0 : (symbol >> 2) - 1);
const distanceBits = (symbol: number) => (symbol < 4 ? 0 : (symbol >> 1) - 1);

/**
 * Inflates raw deflate data (RFC 1951) made of dynamic blocks. The data come from the build, so nothing is checked.
 * This code is small and takes a millisecond for the kernels.
 */
export function inflatePacked(packed: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const output = new Uint8Array(size);
  let place = 0;
  let next = 0;

  function bits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++, next++) {
      value |= (((packed[next >> 3] as number) >> (next & 7)) & 1) << i;
    }
    return value;
  }

  function symbolOf({ counts, symbols }: Codes): number {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; ; length++) {
      code |= bits(1);
      const count = counts[length] as number;
      if (code - count < first) return symbols[index + code - first] as number;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
  }

  /** Reads the code lengths at the start of a block. */
  function lengthsBy(codes: Codes, count: number): number[] {
    const lengths: number[] = [];
    while (lengths.length < count) {
      const symbol = symbolOf(codes);
      if (symbol < 16) lengths.push(symbol);
      else if (symbol === 16) repeat(lengths, lengths.at(-1) ?? 0, 3 + bits(2));
      else repeat(lengths, 0, symbol === 17 ? 3 + bits(3) : 11 + bits(7));
    }
    return lengths;
  }

  for (let isLast = false; !isLast; ) {
    isLast = bits(1) === 1;
    bits(2);
    const [literals, distances, orders] = [257 + bits(5), 1 + bits(5), 4 + bits(4)];
    const ofLengths = new Array<number>(ORDER.length).fill(0);
    for (let i = 0; i < orders; i++) ofLengths[ORDER[i] as number] = bits(3);
    const lengths = lengthsBy(codesOf(ofLengths), literals + distances);
    const literalCodes = codesOf(lengths.slice(0, literals));
    const distanceCodes = codesOf(lengths.slice(literals));
    for (let symbol = symbolOf(literalCodes); symbol !== 256; symbol = symbolOf(literalCodes)) {
      if (symbol < 256) {
        output[place++] = symbol;
        continue;
      }
      const length = baseOf(symbol - 257, 3, lengthBits) + bits(lengthBits(symbol - 257));
      const distanceSymbol = symbolOf(distanceCodes);
      const distance = baseOf(distanceSymbol, 1, distanceBits) + bits(distanceBits(distanceSymbol));
      for (const end = place + length; place < end; place++) {
        output[place] = output[place - distance] as number;
      }
    }
  }
  return output;
}

function repeat(values: number[], value: number, count: number): void {
  for (let i = 0; i < count; i++) values.push(value);
}

/** The smallest value that a symbol stands for. */
function baseOf(symbol: number, least: number, bitsOf: (symbol: number) => number): number {
  if (least === 3 && symbol === 28) return 258;
  let base = least;
  for (let i = 0; i < symbol; i++) base += 1 << bitsOf(i);
  return base;
}

/** Builds the canonical codes from the code length of each symbol. */
function codesOf(lengths: readonly number[]): Codes {
  const counts = new Uint16Array(MAX_LENGTH + 1);
  const symbols: number[] = [];
  for (let length = 1; length <= MAX_LENGTH; length++) {
    lengths.forEach((own, symbol) => {
      if (own !== length) return;
      symbols.push(symbol);
      counts[length] = (counts[length] ?? 0) + 1;
    });
  }
  return { counts, symbols: Uint16Array.from(symbols) };
}
