/** Random numbers that follow from a seed alone, the same on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Begins anew, as if made with `seed`. */
  restart(seed: number): void {
    this.#state = seed | 0;
  }

  /** 32 bits. */
  bits(): number {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** An integer from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor((this.bits() / 2 ** 32) * limit);
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  /** One of `list`, which is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

/** 32 bits that follow from `parts`. */
export function hashOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c_9dc5;
  for (const character of parts.join("\n")) hash = Math.imul(hash ^ character.charCodeAt(0), 0x0100_0193);
  return hash;
}
