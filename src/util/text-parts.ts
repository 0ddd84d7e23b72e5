type Parts = ReadonlyMap<string, Uint8Array>;
/** Iterators of maps, which TypeScript 5.4 and 6 name differently. */
type Names = ReturnType<Parts["keys"]>;
type Values = ReturnType<Parts["values"]>;
type Entries = ReturnType<Parts["entries"]>;

/**
 * Named parts of a document's bytes. Creates a view only on access: a document may have hundreds of thousands of
 * parts, and few are read.
 */
export class TextParts implements Parts {
  readonly #bytes: Uint8Array;
  /** Start and end of each part. */
  readonly #bounds: readonly number[];
  readonly #places: ReadonlyMap<string, number>;

  /** @param places index in `bounds` of each named part's start. */
  constructor(bytes: Uint8Array, bounds: readonly number[], places: ReadonlyMap<string, number>) {
    this.#bytes = bytes;
    this.#bounds = bounds;
    this.#places = places;
  }

  get size(): number {
    return this.#places.size;
  }

  has(name: string): boolean {
    return this.#places.has(name);
  }

  get(name: string): Uint8Array | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : this.#part(place);
  }

  keys(): Names {
    return this.#places.keys();
  }

  *values(): Values {
    for (const place of this.#places.values()) yield this.#part(place);
  }

  *entries(): Entries {
    for (const [name, place] of this.#places) yield [name, this.#part(place)];
  }

  [Symbol.iterator](): Entries {
    return this.entries();
  }

  forEach(call: (part: Uint8Array, name: string, parts: Parts) => void): void {
    for (const [name, part] of this) call(part, name, this);
  }

  /** Renames the parts, dropping those without a new name. */
  renamed(nameOf: (name: string) => string | undefined): TextParts {
    if (this.#haveNames(nameOf)) return this;
    const places = new Map<string, number>();
    for (const [name, place] of this.#places) {
      const other = nameOf(name);
      if (other !== undefined) places.set(other, place);
    }
    return new TextParts(this.#bytes, this.#bounds, places);
  }

  #haveNames(nameOf: (name: string) => string | undefined): boolean {
    for (const name of this.keys()) if (nameOf(name) !== name) return false;
    return true;
  }

  #part(place: number): Uint8Array {
    return this.#bytes.subarray(this.#bounds[place], this.#bounds[place + 1]);
  }
}
