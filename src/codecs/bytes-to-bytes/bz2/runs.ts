import { RUN_START } from "./format.ts";

/** The most bytes that a run of five bytes can stand for. */
const MAX_RUN = RUN_START + 251;

/**
 * Fills `block` with `source` from `start` on, where of a run of four to 255 equal bytes four are left, and a byte
 * that says how many more there are.
 *
 * @returns the bytes put into the block, and where the rest of the source begins.
 */
export function collapseRuns(
  source: Uint8Array,
  start: number,
  block: Uint8Array,
): { size: number; next: number } {
  const limit = block.length - RUN_START - 1;
  let size = 0;
  let s = start;
  while (s < source.length && size <= limit) {
    const byte = source[s] as number;
    let run = 1;
    const most = Math.min(MAX_RUN, source.length - s);
    while (run < most && source[s + run] === byte) run++;
    s += run;
    for (let i = Math.min(run, RUN_START); i > 0; i--) block[size++] = byte;
    if (run >= RUN_START) block[size++] = run - RUN_START;
  }
  return { size, next: s };
}
