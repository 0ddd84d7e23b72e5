/** One loop of a copy: how often, and how far a step goes on either side, in words. */
export interface Loop {
  readonly count: number;
  readonly from: number;
  readonly to: number;
}

/** Items on a side of a tile. */
const TILE = 32;
/** Items on a side of what is moved in one go. */
const SQUARE = 4;

/**
 * Copies items of `width` words so that rows become columns: tile by tile, so that the lines of cache that a tile
 * touches are used while they are there.
 */
export function turnRows(
  source: Uint32Array,
  from: number,
  target: Uint32Array,
  to: number,
  loops: readonly [Loop, Loop],
  width: number,
): void {
  // In `along`, neighbours lie together in the source, in `across` in the target.
  const [along, across] = loops[0].from < loops[1].from ? loops : [loops[1], loops[0]];
  const inSquares = along.from === width && across.to === width;
  for (let a = 0; a < along.count; a += TILE) {
    for (let b = 0; b < across.count; b += TILE) {
      const s = from + a * along.from + b * across.from;
      const t = to + a * along.to + b * across.to;
      const tile = {
        along: { ...along, count: Math.min(TILE, along.count - a) },
        across: { ...across, count: Math.min(TILE, across.count - b) },
      };
      for (let word = 0; word < width; word++) {
        if (inSquares) turnSquares(source, s + word, target, t + word, tile, width);
        else turnWords(source, s + word, target, t + word, tile, 0, 0);
      }
    }
  }
}

interface Tile {
  readonly along: Loop;
  readonly across: Loop;
}

/** One word of each item, sixteen items in one go. */
function turnSquares(
  source: Uint32Array,
  from: number,
  target: Uint32Array,
  to: number,
  tile: Tile,
  width: number,
): void {
  const rowStep = tile.across.from;
  const columnStep = tile.along.to;
  const along = tile.along.count & -SQUARE;
  const across = tile.across.count & -SQUARE;
  const [w, w2, w3] = [width, 2 * width, 3 * width];
  for (let b = 0; b < across; b += SQUARE) {
    for (let a = 0; a < along; a += SQUARE) {
      const s = from + a * w + b * rowStep;
      const s1 = s + rowStep;
      const s2 = s1 + rowStep;
      const s3 = s2 + rowStep;
      const t = to + a * columnStep + b * w;
      const t1 = t + columnStep;
      const t2 = t1 + columnStep;
      const t3 = t2 + columnStep;
      target[t] = source[s] as number;
      target[t + w] = source[s1] as number;
      target[t + w2] = source[s2] as number;
      target[t + w3] = source[s3] as number;
      target[t1] = source[s + w] as number;
      target[t1 + w] = source[s1 + w] as number;
      target[t1 + w2] = source[s2 + w] as number;
      target[t1 + w3] = source[s3 + w] as number;
      target[t2] = source[s + w2] as number;
      target[t2 + w] = source[s1 + w2] as number;
      target[t2 + w2] = source[s2 + w2] as number;
      target[t2 + w3] = source[s3 + w2] as number;
      target[t3] = source[s + w3] as number;
      target[t3 + w] = source[s1 + w3] as number;
      target[t3 + w2] = source[s2 + w3] as number;
      target[t3 + w3] = source[s3 + w3] as number;
    }
  }
  turnWords(source, from, target, to, tile, along, across);
}

/** One word of each item, but for the first `along` of the first `across` rows. */
function turnWords(
  source: Uint32Array,
  from: number,
  target: Uint32Array,
  to: number,
  tile: Tile,
  along: number,
  across: number,
): void {
  for (let b = 0; b < tile.across.count; b++) {
    const start = b < across ? along : 0;
    let s = from + b * tile.across.from + start * tile.along.from;
    let t = to + b * tile.across.to + start * tile.along.to;
    for (let a = start; a < tile.along.count; a++, s += tile.along.from, t += tile.along.to) {
      target[t] = source[s] as number;
    }
  }
}
