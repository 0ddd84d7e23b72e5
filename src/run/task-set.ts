/** A set of task numbers, stored as bits. */
export class TaskSet {
  /** The bits, from which another thread can create its own `TaskSet`. */
  readonly bits: Uint8Array;

  constructor(bits: Uint8Array) {
    this.bits = bits;
  }

  /** An empty set for a plan with the given number of tasks. */
  static empty(tasks: number): TaskSet {
    return new TaskSet(new Uint8Array(Math.ceil(tasks / 8)));
  }

  has(task: number): boolean {
    return ((this.bits[Math.floor(task / 8)] ?? 0) & (1 << (task % 8))) !== 0;
  }

  add(task: number): void {
    const at = Math.floor(task / 8);
    this.bits[at] = (this.bits[at] ?? 0) | (1 << (task % 8));
  }

  delete(task: number): void {
    const at = Math.floor(task / 8);
    this.bits[at] = (this.bits[at] ?? 0) & ~(1 << (task % 8));
  }

  get size(): number {
    let count = 0;
    for (let bits of this.bits) for (; bits !== 0; bits &= bits - 1) count++;
    return count;
  }
}
