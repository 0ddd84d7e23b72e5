/** One loop of a copy: the number of steps, and the words of a step on either side. */
export interface Loop {
  readonly count: number;
  readonly from: number;
  readonly to: number;
}

/** Items per side of a tile. */
const TILE = 32;

/**
 * Copies items of `width` words so that rows become columns. Works tile by tile, so that the cache lines of a tile are
 * reused while they are in the cache.
 */
export function transposeTiles(
  source: Uint32Array,
  from: number,
  target: Uint32Array,
  to: number,
  loops: readonly [Loop, Loop],
  width: number,
): void {
  // `along` visits neighbours in the source, `across` neighbours in the target.
  const [along, across] = loops[0].from < loops[1].from ? loops : [loops[1], loops[0]];
  for (let a = 0; a < along.count; a += TILE) {
    const columns = Math.min(TILE, along.count - a);
    for (let b = 0; b < across.count; b += TILE) {
      const rows = Math.min(TILE, across.count - b);
      const s = from + a * along.from + b * across.from;
      const t = to + a * along.to + b * across.to;
      for (let word = 0; word < width; word++) {
        turnTile(source, s + word, target, t + word, along, columns, across, rows);
      }
    }
  }
}

/** Copies one word of each item: four rows at a time, column by column. */
function turnTile(
  source: Uint32Array,
  from: number,
  target: Uint32Array,
  to: number,
  along: Loop,
  columns: number,
  across: Loop,
  rows: number,
): void {
  const { from: fromColumn, to: toColumn } = along;
  const { from: fromRow, to: toRow } = across;
  let row = 0;
  for (; row + 4 <= rows; row += 4) {
    let s = from + row * fromRow;
    let t = to + row * toRow;
    for (let column = 0; column < columns; column++, s += fromColumn, t += toColumn) {
      target[t] = source[s] as number;
      target[t + toRow] = source[s + fromRow] as number;
      target[t + 2 * toRow] = source[s + 2 * fromRow] as number;
      target[t + 3 * toRow] = source[s + 3 * fromRow] as number;
    }
  }
  for (; row < rows; row++) {
    let s = from + row * fromRow;
    let t = to + row * toRow;
    for (let column = 0; column < columns; column++, s += fromColumn, t += toColumn) {
      target[t] = source[s] as number;
    }
  }
}
