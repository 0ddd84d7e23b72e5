/** 900 bytes of counts, runs and noise; fixed vectors of compressors are made of them. */
export const SAMPLE = makeSample(900);

function makeSample(size: number): Uint8Array {
  let state = 7;
  return Uint8Array.from({ length: size }, (_, i) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    if (i % 300 < 180) return Math.floor(i / 4) % 7;
    return i % 300 < 260 ? 9 : state >>> 24;
  });
}

/** Inputs that sorting, matching and counting find hard, by name. */
export function hardInputs(size: number): readonly (readonly [name: string, bytes: Uint8Array])[] {
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  };
  const of = (byte: (i: number) => number) => Uint8Array.from({ length: size }, (_, i) => byte(i));
  const fibonacci = fibonacciWord(size);
  return [
    ["noise", of(random)],
    ["zeros", of(() => 0)],
    ["0xff", of(() => 255)],
    ["a period of 2", of((i) => i & 1)],
    ["a period of 3, the greatest first", of((i) => 2 - (i % 3))],
    ["a period of 1000", of((i) => (i % 1000) % 251)],
    ["runs of four", of((i) => (i >> 2) * 167)],
    ["runs of 255", of((i) => Math.floor(i / 255))],
    ["runs of 260", of((i) => Math.floor(i / 260))],
    ["a rising ramp", of((i) => (256 * i) / size)],
    ["a Fibonacci word", of((i) => fibonacci[i] ?? 0)],
    ["one change at the end", of((i) => (i === size - 1 ? 1 : 0))],
    ["one change at the start", of((i) => (i === 0 ? 1 : 0))],
    ["few of many", of(() => (random() < 250 ? 0 : random()))],
  ];
}

function fibonacciWord(size: number): number[] {
  let [short, long] = [[1], [0]];
  while (long.length < size) [short, long] = [long, long.concat(short)];
  return long;
}
