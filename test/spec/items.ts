const numbered = (prefix: string, ...ranges: readonly (readonly [first: number, last: number])[]) =>
  ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => `${prefix}-${first + i}`),
  );

/** The numbered items of each page of the specifications. */
export const SPEC_ITEMS = {
  README: numbered("J", [1, 5]),
  v1: numbered("V1", [1, 7], [10, 15], [20, 21], [30, 36], [40, 46], [50, 52], [60, 61]),
  v2: [
    ...numbered("V2", [1, 3], [10, 16], [20, 25], [30, 35], [40, 40], [50, 56], [60, 60]),
    ...numbered("V2", [70, 78], [80, 83], [90, 92], [100, 104]),
  ],
  "v3-draft-2019": [
    ...numbered("D19", [1, 3], [10, 16], [20, 25], [30, 33], [40, 44], [50, 55], [60, 67]),
    ...numbered("D19", [70, 78], [80, 84], [90, 90]),
  ],
  "v3-final": numbered("V3", [1, 5], [10, 26], [30, 33], [40, 48], [50, 58], [60, 61]),
  "zep0007-strings": numbered("S7", [1, 5], [10, 16], [20, 25], [30, 34], [40, 41], [50, 51], [60, 60]),
} as const;
