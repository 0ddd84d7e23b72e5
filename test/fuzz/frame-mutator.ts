import type { Random } from "./random.ts";

const MAX_CHANGES = 5;
/** Most formats keep what decides in their first bytes. */
const HEADER = 40;
const WIDTHS = [1, 2, 4, 8] as const;

/** A frame in the making: a whole one, then changed in the ways that break decoders. */
export class FrameMutator {
  readonly #bytes: Uint8Array;
  readonly #words: DataView;
  readonly #random: Random;
  #length = 0;

  /** @param maxLength bytes that no frame exceeds. */
  constructor(maxLength: number, random: Random) {
    this.#bytes = new Uint8Array(maxLength);
    this.#words = new DataView(this.#bytes.buffer);
    this.#random = random;
  }

  /** A changed form of `frame`, parts of `others` in it; valid until the next call. */
  mutate(frame: Uint8Array, others: readonly Uint8Array[]): Uint8Array {
    const random = this.#random;
    this.#length = Math.min(frame.length, this.#bytes.length);
    this.#bytes.set(frame.subarray(0, this.#length));
    let changes = 1;
    while (changes < MAX_CHANGES && random.oneIn(2)) changes++;
    for (; changes > 0; changes--) this.#change(others);
    return this.#bytes.subarray(0, this.#length);
  }

  #change(others: readonly Uint8Array[]): void {
    const change = this.#random.below(11);
    if (change === 0) this.#flipBit();
    else if (change === 1) this.#setBytes();
    else if (change === 2) this.#truncate();
    else if (change === 3) this.#extend();
    else if (change === 4) this.#splice(this.#random.pick(others));
    else if (change === 5) this.#repeatRegion();
    else if (change === 6) this.#removeRegion();
    else if (change === 7) this.#moveRegion();
    else this.#editField();
  }

  /** A place in the frame, one of its first bytes every other time. */
  #place(): number {
    const most = this.#random.oneIn(2) ? Math.min(this.#length, HEADER) : this.#length;
    return this.#random.below(most);
  }

  /** The length of a region from `start` on: mostly short. */
  #lengthFrom(start: number): number {
    const most = this.#length - start;
    return Math.min(most, 1 + this.#random.below(this.#random.oneIn(4) ? most : 16));
  }

  #flipBit(): void {
    const at = this.#place();
    if (at < this.#length) this.#words.setUint8(at, this.#words.getUint8(at) ^ (1 << this.#random.below(8)));
  }

  #setBytes(): void {
    const start = this.#place();
    const end = start + this.#lengthFrom(start);
    const byte = this.#random.pick([0, 255, 128, 127, -1]);
    for (let at = start; at < end; at++) this.#bytes[at] = byte < 0 ? this.#random.below(256) : byte;
  }

  #truncate(): void {
    const cut = this.#random.oneIn(2) ? this.#random.below(12) : this.#random.below(this.#length + 1);
    this.#length = Math.max(0, this.#length - cut);
  }

  #extend(): void {
    const more = 1 + this.#random.below(this.#random.oneIn(3) ? this.#length + 64 : 12);
    const end = Math.min(this.#bytes.length, this.#length + more);
    const kind = this.#random.below(3);
    for (let at = this.#length; at < end; at++) {
      this.#bytes[at] =
        kind === 0 ? 0 : kind === 1 ? this.#random.below(256) : (this.#bytes[at >> 1] as number);
    }
    this.#length = end;
  }

  /** The begin of this frame, then the end of another. */
  #splice(other: Uint8Array): void {
    const at = this.#random.below(this.#length + 1);
    const from = this.#random.oneIn(2) ? Math.min(at, other.length) : this.#random.below(other.length + 1);
    const length = Math.min(other.length - from, this.#bytes.length - at);
    this.#bytes.set(other.subarray(from, from + length), at);
    this.#length = at + length;
  }

  /** A region once more behind itself; what follows moves away. */
  #repeatRegion(): void {
    const start = this.#place();
    const length = Math.min(this.#lengthFrom(start), this.#bytes.length - this.#length);
    if (length <= 0) return;
    this.#bytes.copyWithin(start + length, start, this.#length);
    this.#length += length;
  }

  #removeRegion(): void {
    const start = this.#place();
    const length = this.#lengthFrom(start);
    if (length <= 0) return;
    this.#bytes.copyWithin(start, start + length, this.#length);
    this.#length -= length;
  }

  /** A region over another. */
  #moveRegion(): void {
    const from = this.#place();
    const to = this.#place();
    const length = Math.min(this.#lengthFrom(from), this.#length - to);
    if (length > 0) this.#bytes.copyWithin(to, from, from + length);
  }

  /** A number of 1 to 8 bytes in either byte order: one more or less, or a value at an edge. */
  #editField(): void {
    const width = this.#random.pick(WIDTHS);
    const at = this.#random.oneIn(5) ? this.#length - width : this.#place();
    if (at < 0 || at + width > this.#length) return;
    const little = !this.#random.oneIn(3);
    const stated = this.#read(at, width, little);
    const near = [stated + 1n, stated - 1n, 0n, -1n, 1n, stated * 2n, stated / 2n];
    const small = BigInt(this.#random.below(2 * this.#length + 2));
    const values = [...near, 2n ** 31n, 2n ** 31n - 1n, small, small];
    this.#write(at, width, little, this.#random.pick(values));
  }

  #read(at: number, width: number, little: boolean): bigint {
    if (width === 8) return this.#words.getBigUint64(at, little);
    if (width === 4) return BigInt(this.#words.getUint32(at, little));
    return BigInt(width === 2 ? this.#words.getUint16(at, little) : this.#words.getUint8(at));
  }

  #write(at: number, width: number, little: boolean, value: bigint): void {
    if (width === 8) this.#words.setBigUint64(at, BigInt.asUintN(64, value), little);
    else if (width === 4) this.#words.setUint32(at, Number(BigInt.asUintN(32, value)), little);
    else if (width === 2) this.#words.setUint16(at, Number(BigInt.asUintN(16, value)), little);
    else this.#words.setUint8(at, Number(BigInt.asUintN(8, value)));
  }
}
