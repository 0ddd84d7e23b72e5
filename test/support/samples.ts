const { ZARRFLOW_SAMPLES } = process.env;

/** Whether this run draws all samples: `npm run test:long`. */
export const drawsAll = ZARRFLOW_SAMPLES === "all";

/**
 * How many samples a property of a file tagged `sampled` draws: all in the long run, a sixth in `npm test`, a sixteenth
 * in the quick run.
 */
export function samples(all: number): number {
  return drawsAll ? all : Math.ceil(all / (ZARRFLOW_SAMPLES === "few" ? 16 : 6));
}

/** The numbers below `all`: each in the long run, one in seven in the others, so that all bits of a byte occur. */
export function* sampledBelow(all: number): Generator<number> {
  for (let n = 0; n < all; n += drawsAll ? 1 : 7) yield n;
}

/** Of things that are much alike: each in the long run, one in `step` in the others, other ones at another `turn`. */
export function someOf<T>(all: readonly T[], step: number, turn: number): readonly T[] {
  return drawsAll ? all : all.filter((_, i) => (i + turn) % step === 0);
}

/** The tags of one of many combinations: every `step`-th belongs to `npm test`, the others to the long run. */
export function oneIn(step: number, index: number): { tags: string[] } {
  return { tags: index % step === 0 ? [] : ["long"] };
}
