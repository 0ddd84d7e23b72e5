/** Offsets of all entries of an archive, in the order of the directory. */
export class EntryOffsets {
  #offsets = new Float64Array(64);
  #count = 0;
  #isSorted = true;

  add(offset: number): void {
    if (this.#count === this.#offsets.length) {
      const offsets = new Float64Array(2 * this.#count);
      offsets.set(this.#offsets);
      this.#offsets = offsets;
    }
    if (this.#count > 0 && offset < (this.#offsets[this.#count - 1] ?? 0)) this.#isSorted = false;
    this.#offsets[this.#count++] = offset;
  }

  /** Returns the offset of the first entry after the one at `offset`; undefined for the last. */
  after(offset: number): number | undefined {
    const offsets = this.#sorted();
    let low = 0;
    let high = offsets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((offsets[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return offsets[low];
  }

  #sorted(): Float64Array {
    const offsets = this.#offsets.subarray(0, this.#count);
    if (!this.#isSorted) offsets.sort();
    this.#isSorted = true;
    return offsets;
  }
}
