import { sortUtf8 } from "../../util/names.ts";
import { folderOf } from "../../util/node-path.ts";

export const ENCRYPTED = -1;
/** A symbolic link, whose bytes are a path, not a value. */
export const LINK = -2;

/** An entry of an archive, as its directory describes it. */
export interface ZipEntry {
  /** Start of its local header, in bytes from the start of the archive. */
  readonly offset: number;
  /** Size in the archive in bytes. */
  readonly packedSize: number;
  /** Size of the value in bytes. */
  readonly size: number;
  readonly crc32: number;
  /** 0 stored, 8 deflated, others per the zip specification; also `ENCRYPTED` and `LINK`. */
  readonly method: number;
  /** Length of its name in bytes. */
  readonly nameLength: number;
}

/** An entry, and the start of the next one in the archive, if there is one. */
export interface PlacedEntry extends ZipEntry {
  readonly next: number | undefined;
}

const FIELDS = ["offset", "packedSize", "size", "crc32", "method", "nameLength"] as const;

/** The entries of an archive by key, each a row of six numbers, because there may be millions. */
export class ZipIndex {
  readonly #rows = new Map<string, number>();
  #cells = new Float64Array(64 * FIELDS.length);
  #used = 0;
  #sorted: readonly string[] | undefined;
  readonly #offsets = new EntryOffsets();
  readonly #links = new Set<string>();
  readonly #empty = new Set<string>();
  #folders: ReadonlySet<string> | undefined;

  /** Records that an entry starts at `offset`, even if it is not added. */
  occupy(offset: number): void {
    this.#offsets.add(offset);
  }

  /** Adds an entry. Returns true if it replaces one of the same key. */
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
      this.#folders = undefined;
    }
    if (entry.method === LINK) this.#links.add(key);
    else this.#links.delete(key);
    FIELDS.forEach((field, i) => {
      this.#cells[row + i] = entry[field];
    });
    return known !== undefined;
  }

  get(key: string): PlacedEntry | undefined {
    const row = this.#rows.get(key);
    if (row === undefined) return undefined;
    const cell = (i: number) => this.#cells[row + i] ?? 0;
    const offset = cell(0);
    return {
      offset,
      packedSize: cell(1),
      size: cell(2),
      crc32: cell(3),
      method: cell(4),
      nameLength: cell(5),
      next: this.#offsets.after(offset),
    };
  }

  /** Returns the symbolic link at `key`, or the one that a reader of the key would have to follow. */
  linkOnTheWay(key: string): string | undefined {
    if (this.#links.size === 0) return undefined;
    if (this.#rows.has(key)) return this.#links.has(key) ? key : undefined;
    for (let end = key.indexOf("/"); end >= 0; end = key.indexOf("/", end + 1)) {
      const above = key.slice(0, end);
      if (this.#links.has(above)) return above;
    }
    return undefined;
  }

  addFolder(key: string): void {
    this.#empty.add(key);
    this.#folders = undefined;
  }

  /** Returns the keys of all folders: those with entries of their own, and those above keys. */
  folders(): ReadonlySet<string> {
    this.#folders ??= this.#findFolders();
    return this.#folders;
  }

  #findFolders(): Set<string> {
    const folders = new Set<string>();
    const addAll = (folder: string) => {
      for (let above = folder; above !== "" && !folders.has(above); above = folderOf(above))
        folders.add(above);
    };
    for (const folder of this.#empty) addAll(folder);
    let last = "";
    for (const key of this.#rows.keys()) {
      const folder = folderOf(key);
      if (folder === last) continue;
      addAll(folder);
      last = folder;
    }
    return folders;
  }

  sizeOf(key: string): number | undefined {
    return this.#cell(key, "size");
  }

  crc32Of(key: string): number | undefined {
    return this.#cell(key, "crc32");
  }

  #cell(key: string, field: (typeof FIELDS)[number]): number | undefined {
    const row = this.#rows.get(key);
    return row === undefined ? undefined : this.#cells[row + FIELDS.indexOf(field)];
  }

  /** Returns the keys in the order of their entries in the archive. */
  storedKeys(): readonly string[] {
    const placed = [...this.#rows.keys()].map((key) => ({ key, at: this.#cell(key, "offset") ?? 0 }));
    return placed.sort((a, b) => a.at - b.at).map(({ key }) => key);
  }

  sortedKeys(): readonly string[] {
    this.#sorted ??= sortUtf8([...this.#rows.keys()]);
    return this.#sorted;
  }
}

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
