import { expect, test } from "vitest";
import { copyLiterals, copyMatch } from "../../../src/codecs/kernels/lz-copy.ts";
import { wordsOf } from "../../../src/codecs/kernels/words.ts";
import { guarded } from "../support.ts";

test("matches repeat at every distance and length, with and without room behind", () => {
  for (let distance = 1; distance <= 20; distance++) {
    for (const length of [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 127, 128, 129, 300]) {
      for (const room of [0, 1, 3, 8]) {
        const { bytes, check } = guarded(distance + length + room);
        for (let i = 0; i < distance; i++) bytes[i] = i + 1;
        copyMatch(bytes, wordsOf(bytes), distance, distance, length, bytes.length);
        const expected = Array.from({ length: distance + length }, (_, i) => (i % distance) + 1);
        expect([...bytes.subarray(0, distance + length)]).toEqual(expected);
        check();
      }
    }
  }
});

test("literals are copied up to the end of either buffer", () => {
  for (const length of [0, 1, 2, 3, 4, 5, 9, 127, 128, 200]) {
    const source = Uint8Array.from({ length: length + 2 }, (_, i) => i);
    const { bytes, check } = guarded(length + 1);
    copyLiterals(source, wordsOf(source), 2, bytes, wordsOf(bytes), 1, length, bytes.length);
    expect([...bytes.subarray(1)]).toEqual([...source.subarray(2)]);
    check();
  }
});
