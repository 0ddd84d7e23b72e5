import { ZarrflowError } from "./errors.ts";
import { isDigit, type ParseJsonOptions, parseJson, UTF8 } from "./json-parse.ts";
import type { JsonValue } from "./json-value.ts";

/** Selects values that are not parsed but returned as their text. */
export interface JsonCut {
  /** Number of object levels, from the root, whose names are examined. */
  readonly levels: number;
  /** True if the value at these names is cut out. */
  readonly isCut: (names: readonly string[]) => boolean;
  /** Cuts out the names too, for objects with very many members. */
  readonly withNames?: boolean;
}

export interface CutJson {
  /** The document, with `null` in place of the cut values; if names are cut too, an empty name replaces theirs. */
  readonly json: JsonValue;
  /** The text of each cut value by its last name, as views of the document's bytes. */
  readonly texts: TextParts;
}

/**
 * Reads JSON as `parseJson` does, except for the values that `cut` selects. Their syntax is checked, allowing bare
 * `NaN`, but no memory is spent on their content.
 *
 * @throws as `parseJson`.
 */
export function parseJsonCut(bytes: Uint8Array, cut: JsonCut, options: ParseJsonOptions = {}): CutJson {
  const cutter = new JsonCutter(bytes, cut, options.maxDepth ?? MAX_DEPTH);
  const rest = cutter.rest();
  try {
    if (rest) return { json: parseJson(rest, options), texts: cutter.texts() };
  } catch (error) {
    // Parse the whole document for an error with the right line number.
    parseJson(bytes, options);
    throw error;
  }
  parseJson(bytes, options);
  throw new ZarrflowError("invalid-metadata", "the document is not valid JSON");
}

const MAX_DEPTH = 1000;
const NULL = new TextEncoder().encode("null");
const NAMELESS = new TextEncoder().encode('"":null');
const WORDS = ["true", "false", "null", "NaN", "Infinity", "-Infinity"].map((word) =>
  new TextEncoder().encode(word),
);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;

/** Scans a document; methods return -1 for invalid JSON. */
class JsonCutter {
  readonly #bytes: Uint8Array;
  readonly #cut: JsonCut;
  readonly #maxDepth: number;
  readonly #names: string[] = [];
  /** For each cut value: where it begins, where it ends, and where the removed text begins. */
  readonly #bounds: number[] = [];
  readonly #places = new Map<string, number>();

  constructor(bytes: Uint8Array, cut: JsonCut, maxDepth: number) {
    this.#bytes = bytes;
    this.#cut = cut;
    this.#maxDepth = maxDepth;
  }

  /** The texts that `rest` cut out. */
  texts(): TextParts {
    return new TextParts(this.#bytes, this.#bounds, this.#places);
  }

  /** The document without the cut values; undefined if it is not JSON. */
  rest(): Uint8Array | undefined {
    const [a, b, c] = this.#bytes;
    const start = a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0;
    const end = this.#value(start, 0);
    if (end < 0 || this.#skipSpace(end) < this.#bytes.length) return undefined;
    return this.#withoutGaps();
  }

  #withoutGaps(): Uint8Array {
    const filling = this.#cut.withNames ? NAMELESS : NULL;
    let rest = new Uint8Array(2 ** 10);
    let size = 0;
    const keep = (part: Uint8Array) => {
      if (size + part.length > rest.length) {
        const larger = new Uint8Array(2 * (size + part.length));
        larger.set(rest);
        rest = larger;
      }
      rest.set(part, size);
      size += part.length;
    };
    let from = 0;
    for (let i = 0; i < this.#bounds.length; i += 3) {
      keep(this.#bytes.subarray(from, this.#bounds[i + 2]));
      keep(filling);
      from = this.#bounds[i + 1] ?? from;
    }
    if (from === 0) return this.#bytes;
    keep(this.#bytes.subarray(from));
    return rest.subarray(0, size);
  }

  /** Returns the end of the value at `at`, after any space. */
  #value(at: number, depth: number): number {
    if (depth > this.#maxDepth) return -1;
    const start = this.#skipSpace(at);
    const code = this.#bytes[start];
    if (code === 0x7b) return this.#object(start + 1, depth);
    if (code === 0x5b) return this.#list(start + 1, depth);
    if (code === QUOTE) return this.#string(start);
    if (code === MINUS || isDigit(code)) {
      const end = this.#number(start);
      if (end >= 0) return end;
    }
    return this.#word(start);
  }

  #object(from: number, depth: number): number {
    let at = this.#skipSpace(from);
    if (this.#bytes[at] === 0x7d) return at + 1;
    const isLookedAt = depth === this.#names.length && depth < this.#cut.levels;
    for (;;) {
      const start = this.#skipSpace(at);
      if (this.#bytes[start] !== QUOTE) return -1;
      const end = this.#string(start);
      if (end < 0) return -1;
      at = this.#skipSpace(end);
      if (this.#bytes[at] !== 0x3a) return -1;
      at = isLookedAt ? this.#member(start, end, at + 1, depth) : this.#value(at + 1, depth + 1);
      if (at < 0) return -1;
      at = this.#skipSpace(at);
      if (this.#bytes[at] === 0x7d) return at + 1;
      if (this.#bytes[at++] !== 0x2c) return -1;
    }
  }

  /** Scans a member whose name is examined; only objects, not lists, enclose it. */
  #member(start: number, end: number, from: number, depth: number): number {
    const name = nameOf(this.#bytes.subarray(start, end));
    if (name === undefined) return -1;
    this.#names.push(name);
    const isCut = this.#cut.isCut(this.#names);
    // Lengthens the path, so that names within the cut value are not examined.
    if (isCut) this.#names.push("");
    const at = isCut ? this.#skipSpace(from) : from;
    const after = this.#value(at, depth + 1);
    if (isCut) this.#names.pop();
    this.#names.pop();
    if (isCut && after >= 0) {
      this.#places.set(name, this.#bounds.length);
      this.#bounds.push(at, after, this.#cut.withNames ? start : at);
    }
    return after;
  }

  #list(from: number, depth: number): number {
    let at = this.#skipSpace(from);
    if (this.#bytes[at] === 0x5d) return at + 1;
    for (;;) {
      at = this.#value(at, depth + 1);
      if (at < 0) return -1;
      at = this.#skipSpace(at);
      if (this.#bytes[at] === 0x5d) return at + 1;
      if (this.#bytes[at++] !== 0x2c) return -1;
    }
  }

  #string(start: number): number {
    for (let at = start + 1; ; at++) {
      const code = this.#bytes[at] ?? 0;
      if (code === QUOTE) return at + 1;
      if (code < 0x20) return -1;
      if (code !== BACKSLASH) continue;
      at = this.#escape(at + 1);
      if (at < 0) return -1;
    }
  }

  /** Returns the position of the last byte of an escape. */
  #escape(at: number): number {
    const code = this.#bytes[at] ?? 0;
    if (code !== 0x75) return '"\\/bfnrt'.includes(String.fromCharCode(code)) ? at : -1;
    for (let i = 1; i <= 4; i++) if (!isHex(this.#bytes[at + i])) return -1;
    return at + 4;
  }

  #number(start: number): number {
    let at = this.#bytes[start] === MINUS ? start + 1 : start;
    const whole = at;
    at = this.#digits(at);
    if (at === whole || (at > whole + 1 && this.#bytes[whole] === ZERO)) return -1;
    if (this.#bytes[at] === 0x2e) {
      const fraction = at + 1;
      at = this.#digits(fraction);
      if (at === fraction) return -1;
    }
    if (this.#bytes[at] !== 0x65 && this.#bytes[at] !== 0x45) return at;
    const sign = this.#bytes[++at];
    if (sign === 0x2b || sign === MINUS) at++;
    const end = this.#digits(at);
    return end === at ? -1 : end;
  }

  #digits(from: number): number {
    let at = from;
    while (isDigit(this.#bytes[at])) at++;
    return at;
  }

  #word(start: number): number {
    for (const word of WORDS)
      if (word.every((code, i) => this.#bytes[start + i] === code)) return start + word.length;
    return -1;
  }

  #skipSpace(from: number): number {
    let at = from;
    for (; ; at++) {
      const code = this.#bytes[at];
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    }
  }
}

function isHex(code = 0): boolean {
  const letter = code | 0x20;
  return isDigit(code) || (letter >= 0x61 && letter <= 0x66);
}

/** Decodes a string token; undefined if it is not UTF-8. */
function nameOf(token: Uint8Array): string | undefined {
  try {
    const text = UTF8.decode(token);
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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
