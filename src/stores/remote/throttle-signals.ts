/** How often a server wanted to be asked less often. */
export interface Overloads {
  readonly count: number;
  add(): void;
}

/** Counts for servers; those that share a place are counted together. */
const PLACES = 64;

let counts = new Int32Array(
  globalThis.SharedArrayBuffer ? new SharedArrayBuffer(4 * PLACES) : new ArrayBuffer(4 * PLACES),
);

/** The counts of this thread: another one that joins them hears of overloads here, and this one of those there. */
export function overloadCounts(): Int32Array {
  return counts;
}

/** Shares the counts of another thread. Call it before stores are opened. */
export function joinOverloads(shared: Int32Array): void {
  counts = shared as typeof counts;
}

/** The overloads of a server by any name, seen by whichever threads share counts. */
export function overloadsOf(server: string): Overloads {
  let place = 0;
  for (const letter of server) place = (place * 31 + (letter.codePointAt(0) ?? 0)) % PLACES;
  return {
    get count() {
      return Atomics.load(counts, place);
    },
    add() {
      Atomics.add(counts, place, 1);
    },
  };
}

/** Overloads that nobody else hears of. */
export function ownOverloads(): Overloads {
  let count = 0;
  return {
    get count() {
      return count;
    },
    add() {
      count++;
    },
  };
}
