/**
 * The Burrows-Wheeler transform: the last column of the sorted rotations of `block`.
 *
 * The suffixes of the least rotation sort in the same order as its rotations, so these suffixes are sorted. This takes
 * linear time even for blocks that repeat one byte or a short pattern.
 *
 * @param order scratch space, as long as the block.
 * @param column filled with the result; as long as the block.
 * @returns the origin: the row that is the block itself.
 */
export function sortBlock(block: Uint8Array, order: Int32Array, column: Uint8Array): number {
  const size = block.length;
  const least = leastRotation(block);
  const text = new Uint8Array(size);
  text.set(block.subarray(least));
  text.set(block.subarray(0, least), size - least);
  sortSuffixes(text, 256, order);

  const start = least === 0 ? 0 : size - least;
  let origin = 0;
  for (let row = 0; row < size; row++) {
    const place = order[row] as number;
    if (place === start) origin = row;
    column[row] = text[place === 0 ? size - 1 : place - 1] as number;
  }
  return origin;
}

/** Finds the start of the least rotation. Two candidates race; the loser moves past the bytes it has compared. */
function leastRotation(block: Uint8Array): number {
  const size = block.length;
  let a = 0;
  let b = 1;
  let same = 0;
  while (a < size && b < size && same < size) {
    const p = a + same;
    const q = b + same;
    const left = block[p < size ? p : p - size] as number;
    const right = block[q < size ? q : q - size] as number;
    if (left === right) {
      same++;
      continue;
    }
    if (left > right) a += same + 1;
    else b += same + 1;
    if (a === b) b++;
    same = 0;
  }
  return Math.min(a, b);
}

/** Text to sort: symbols from 0 on. */
export type Text = Uint8Array | Int32Array;

const EMPTY = -1;

/**
 * Sorts the suffixes of `text` by induced sorting (SA-IS), in linear time for any content.
 *
 * A suffix is of type S if it is less than the next suffix, otherwise of type L; the end of the text is less than any
 * symbol. Suffixes of type S after one of type L ("LMS") are sorted first, as words of a text of at most half the
 * length. Two passes derive the order of all others from theirs.
 *
 * @param alphabetSize all symbols are below it.
 * @param order as long as the text; filled with the starts of the suffixes in sorted order.
 */
export function sortSuffixes(text: Text, alphabetSize: number, order: Int32Array): void {
  const size = text.length;
  if (size === 0) return;
  const starts = bucketStarts(text, alphabetSize);
  const edges = new Int32Array(alphabetSize);

  order.fill(EMPTY);
  edges.set(starts.subarray(1));
  eachLms(text, (place) => {
    const symbol = text[place] as number;
    const edge = (edges[symbol] as number) - 1;
    order[edge] = place;
    edges[symbol] = edge;
  });
  induce(text, starts, edges, order);

  const count = gatherLms(text, starts, edges, order);
  const names = nameWords(text, count, order);
  if (names < count) sortWords(text, count, names, order);

  edges.set(starts.subarray(1));
  order.fill(EMPTY, count);
  for (let i = count - 1; i >= 0; i--) {
    const place = order[i] as number;
    const symbol = text[place] as number;
    const edge = (edges[symbol] as number) - 1;
    order[i] = EMPTY;
    order[edge] = place;
    edges[symbol] = edge;
  }
  induce(text, starts, edges, order);
}

/** Start of the bucket of each first symbol, followed by the end. */
function bucketStarts(text: Text, alphabetSize: number): Int32Array {
  const starts = new Int32Array(alphabetSize + 1);
  for (let i = 0; i < text.length; i++) {
    const next = (text[i] as number) + 1;
    starts[next] = (starts[next] as number) + 1;
  }
  for (let symbol = 0; symbol < alphabetSize; symbol++) {
    starts[symbol + 1] = (starts[symbol + 1] as number) + (starts[symbol] as number);
  }
  return starts;
}

/** Calls `see` with the starts of the LMS suffixes, from the last to the first. */
function eachLms(text: Text, see: (place: number) => void): void {
  let isS = false;
  let next = text[text.length - 1] as number;
  for (let i = text.length - 2; i >= 0; i--) {
    const symbol = text[i] as number;
    if (symbol < next) {
      isS = true;
    } else if (symbol > next) {
      if (isS) see(i + 1);
      isS = false;
    }
    next = symbol;
  }
}

/**
 * Sorts all suffixes, given the LMS suffixes at the ends of their buckets. The ascending pass places a suffix of type L
 * when it meets the suffix after it; the descending pass does the same for type S.
 *
 * @param edges filled, by symbol, with the start of the suffixes of type S in its bucket.
 */
function induce(text: Text, starts: Int32Array, edges: Int32Array, order: Int32Array): void {
  const alphabetSize = edges.length;
  edges.set(starts.subarray(0, alphabetSize));
  const last = text.length - 1;
  const lastSymbol = text[last] as number;
  order[edges[lastSymbol] as number] = last;
  edges[lastSymbol] = (edges[lastSymbol] as number) + 1;
  for (let symbol = 0; symbol < alphabetSize; symbol++) {
    const end = starts[symbol + 1] as number;
    for (let i = starts[symbol] as number; i < end; i++) {
      const before = (order[i] as number) - 1;
      if (before < 0) continue;
      const first = text[before] as number;
      if (first < symbol) continue;
      const edge = edges[first] as number;
      order[edge] = before;
      edges[first] = edge + 1;
    }
  }

  edges.set(starts.subarray(1));
  for (let symbol = alphabetSize - 1; symbol >= 0; symbol--) {
    const start = starts[symbol] as number;
    let i = (starts[symbol + 1] as number) - 1;
    for (; i >= (edges[symbol] as number); i--) {
      const before = (order[i] as number) - 1;
      if (before < 0) continue;
      const first = text[before] as number;
      if (first > symbol) continue;
      const edge = (edges[first] as number) - 1;
      order[edge] = before;
      edges[first] = edge;
    }
    for (; i >= start; i--) {
      const before = (order[i] as number) - 1;
      if (before < 0) continue;
      const first = text[before] as number;
      if (first >= symbol) continue;
      const edge = (edges[first] as number) - 1;
      order[edge] = before;
      edges[first] = edge;
    }
  }
}

/**
 * Moves the LMS suffixes to the front of `order` and keeps their order.
 *
 * @returns the number of LMS suffixes.
 */
function gatherLms(text: Text, starts: Int32Array, edges: Int32Array, order: Int32Array): number {
  let count = 0;
  for (let symbol = 0; symbol < edges.length; symbol++) {
    const end = starts[symbol + 1] as number;
    for (let i = edges[symbol] as number; i < end; i++) {
      const place = order[i] as number;
      if (place > 0 && (text[place - 1] as number) > symbol) order[count++] = place;
    }
  }
  return count;
}

/**
 * Names words, which reach from one LMS suffix to the next, by their order; equal words get the same name. Stores the
 * names, from 1 on, after the LMS suffixes at half of each position, because no two LMS positions are adjacent.
 *
 * @returns the number of different words.
 */
function nameWords(text: Text, count: number, order: Int32Array): number {
  const lengths = order.subarray(count);
  lengths.fill(0);
  let next = text.length;
  eachLms(text, (place) => {
    lengths[place >> 1] = next - place + 1;
    next = place;
  });

  let names = 0;
  let known = 0;
  let knownLength = 0;
  for (let i = 0; i < count; i++) {
    const place = order[i] as number;
    const length = lengths[place >> 1] as number;
    if (length !== knownLength || !isSameWord(text, known, place, length)) names++;
    known = place;
    knownLength = length;
    lengths[place >> 1] = names;
  }
  return names;
}

/** The last word of a text includes its end and differs from all others. */
function isSameWord(text: Text, a: number, b: number, length: number): boolean {
  if (Math.max(a, b) + length > text.length) return false;
  for (let i = 0; i < length; i++) if (text[a + i] !== text[b + i]) return false;
  return true;
}

/** Sorts the first `count` entries of `order`, which are LMS suffixes, by sorting the text of their words' names. */
function sortWords(text: Text, count: number, names: number, order: Int32Array): void {
  const words = order.subarray(order.length - count);
  let w = count;
  for (let i = order.length - 1; i >= count; i--) {
    const name = order[i] as number;
    if (name > 0) words[--w] = name - 1;
  }
  const sorted = order.subarray(0, count);
  sortSuffixes(words, names, sorted);
  w = count;
  eachLms(text, (place) => {
    words[--w] = place;
  });
  for (let i = 0; i < count; i++) sorted[i] = words[sorted[i] as number] as number;
}
