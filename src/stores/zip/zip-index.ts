import { compareUtf8 } from "../../util/utf8-order.ts";

/** One entry of an archive, as its directory tells. */
export interface ZipEntry {
  /** Where its local header begins, in bytes from the begin of the archive. */
  readonly offset: number;
  /** Bytes it takes in the archive. */
  readonly packedSize: number;
  /** Bytes of the value. */
  readonly size: number;
  readonly crc32: number;
  /** 0 stored, 8 deflated, others by the zip specification; -1 encrypted. */
  readonly method: number;
  /** Bytes of its name. */
  readonly nameLength: number;
}

const FIELDS = ["offset", "packedSize", "size", "crc32", "method", "nameLength"] as const;

/** The entries of an archive by key, each a row of six numbers, since there may be millions. */
export class ZipIndex {
  readonly #rows = new Map<string, number>();
  #cells = new Float64Array(64 * FIELDS.length);
  #used = 0;
  #sorted: readonly string[] | undefined;

  /** Adds an entry, in place of one of the same key; whether there was one. */
  add(key: string, entry: ZipEntry): boolean {
    const known = this.#rows.get(key);
    const row = known ?? this.#used;
    if (known === undefined) {
      this.#used += FIELDS.length;
      if (this.#used > this.#cells.length) {
        const cells = new Float64Array(2 * this.#cells.length);
        cells.set(this.#cells);
        this.#cells = cells;
      }
      this.#rows.set(key, row);
      this.#sorted = undefined;
    }
    FIELDS.forEach((field, i) => {
      this.#cells[row + i] = entry[field];
    });
    return known !== undefined;
  }

  get(key: string): ZipEntry | undefined {
    const row = this.#rows.get(key);
    if (row === undefined) return undefined;
    const cell = (i: number) => this.#cells[row + i] ?? 0;
    return {
      offset: cell(0),
      packedSize: cell(1),
      size: cell(2),
      crc32: cell(3),
      method: cell(4),
      nameLength: cell(5),
    };
  }

  sizeOf(key: string): number | undefined {
    return this.get(key)?.size;
  }

  sortedKeys(): readonly string[] {
    this.#sorted ??= [...this.#rows.keys()].sort(compareUtf8);
    return this.#sorted;
  }
}
