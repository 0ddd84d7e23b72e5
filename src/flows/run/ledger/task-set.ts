/** Numbers of tasks of a plan, a bit each. */
export class TaskSet {
  /** Hand it to a thread, which makes its own `TaskSet` of it. */
  readonly bits: Uint8Array;

  constructor(bits: Uint8Array) {
    this.bits = bits;
  }

  /** Of a plan of so many tasks, none. */
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
