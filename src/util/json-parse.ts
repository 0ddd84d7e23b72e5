import { ZarrflowError } from "./errors.ts";
import { JsonMemory, joined, maxMemoryOf } from "./json-memory.ts";
import {
  type JsonNumber,
  type JsonObject,
  type JsonPath,
  type JsonValue,
  pointerOf,
  setMember,
} from "./json-value.ts";

/** Options for reading array values, whose memory the decoder limits. */
export const JSON_VALUES: ParseJsonOptions = {
  allowNonFinite: () => true,
  maxMemory: Number.POSITIVE_INFINITY,
};

/** Largest document in bytes, from the longest string that runtimes allow. */
const MAX_DOCUMENT = 2 ** 29 - 25;

export interface ParseJsonOptions {
  /** True if a bare `NaN`, `Infinity` or `-Infinity` is allowed at `path`; by default nowhere. */
  readonly allowNonFinite?: (path: JsonPath) => boolean;
  /** Largest document, in bytes. */
  readonly maxBytes?: number;
  /** Bytes that values may take; the default depends on the document's size: see `maxMemoryOf`. */
  readonly maxMemory?: number | undefined;
  /** Deepest nesting of lists and objects. */
  readonly maxDepth?: number;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
export const NON_FINITE = ["NaN", "Infinity", "-Infinity"];
/** Longer lists are built from pieces of this length, which avoids copying a growing list. */
const PIECE = 2 ** 13;
/** Characters that are available from the start of each token, unless the document ends there. Errors show fewer. */
const AHEAD = 64;
/** Characters of the longest escape. */
const MAX_ESCAPE = 6;

/**
 * Reads JSON without loss: numbers that JavaScript would change become `JsonNumber`. Accepts a byte order mark. The
 * last of equal names wins, and every name becomes an own property, even `__proto__`. Does not keep `bytes`. Takes at
 * most six times the document's memory, and a small constant amount: see `JsonMemory`.
 *
 * @throws `invalid-metadata` with line and column; `resource-limit` if the document is too large or nested too
 * deeply.
 */
export function parseJson(bytes: Uint8Array, options: ParseJsonOptions = {}): JsonValue {
  const { maxBytes = MAX_DOCUMENT, maxMemory } = options;
  if (bytes.length > maxBytes) {
    throw documentTooLarge(bytes.length, maxBytes);
  }
  return new JsonParser(bytes, new JsonMemory(maxMemory ?? maxMemoryOf(bytes.length)), options).document();
}

class JsonParser {
  readonly #window: JsonWindow;
  #text = "";
  readonly #maxDepth: number;
  readonly #allowNonFinite: (path: JsonPath) => boolean;
  readonly #memory: JsonMemory;
  readonly #path: (string | number)[] = [];
  #at = 0;
  #depth = 0;
  /** True if the last token is a slice of the text. */
  #isCut = true;

  constructor(
    bytes: Uint8Array,
    memory: JsonMemory,
    { maxDepth = 1000, allowNonFinite = () => false }: ParseJsonOptions,
  ) {
    this.#window = new JsonWindow(bytes);
    this.#memory = memory;
    this.#maxDepth = maxDepth;
    this.#allowNonFinite = allowNonFinite;
  }

  document(): JsonValue {
    const value = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail("the end of the document");
    return value;
  }

  #value(): JsonValue {
    this.#skipSpace();
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object();
      case "[":
        return this.#list();
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  #object(): JsonObject {
    const object: JsonObject = {};
    let shape = this.#memory.object();
    this.#enter();
    if (!this.#take("}")) {
      let count = 0;
      do {
        this.#skipSpace();
        if (this.#text[this.#at] !== '"') this.#fail("a name in double quotes");
        const name = this.#token();
        shape = this.#memory.member(shape, name, count++);
        if (!this.#take(":")) this.#fail("`:`");
        setMember(object, name, this.#valueAt(name));
      } while (this.#take(","));
      if (!this.#take("}")) this.#fail("`,` or `}`");
    }
    this.#depth--;
    return object;
  }

  #list(): JsonValue[] {
    this.#memory.list();
    this.#enter();
    const list = this.#take("]") ? [] : this.#items();
    this.#depth--;
    return list;
  }

  /**
   * Reads the items of a list. Creates short lists, the usual ones, from all items at once, because growing lists
   * allocate spare room.
   */
  #items(): JsonValue[] {
    const a = this.#item(0, true);
    let areNumbers = typeof a === "number";
    if (!this.#take(",")) return this.#ended(areNumbers ? [a as number] : [a]);
    const b = this.#item(1, areNumbers);
    areNumbers &&= typeof b === "number";
    if (!this.#take(",")) return this.#ended(areNumbers ? [a as number, b as number] : [a, b]);
    const c = this.#item(2, areNumbers);
    areNumbers &&= typeof c === "number";
    if (!this.#take(","))
      return this.#ended(areNumbers ? [a as number, b as number, c as number] : [a, b, c]);
    const pieces: JsonValue[][] = [];
    // Two literals, here and above: runtimes store lists of numbers differently from other lists.
    let piece: JsonValue[] = areNumbers ? [a as number, b as number, c as number] : [a, b, c];
    pieces.push(piece);
    let count = 3;
    do {
      const value = this.#item(count++, areNumbers);
      const isOther = areNumbers && typeof value !== "number";
      if (isOther) areNumbers = false;
      if (isOther || piece.length >= PIECE) {
        piece = areNumbers ? ([] as number[]) : [];
        pieces.push(piece);
      }
      piece.push(value);
    } while (this.#take(","));
    return this.#ended(joined(pieces));
  }

  #item(index: number, areNumbers: boolean): JsonValue {
    const value = this.#valueAt(index);
    this.#memory.item(index, value, areNumbers && typeof value === "number");
    return value;
  }

  #ended(list: JsonValue[]): JsonValue[] {
    if (!this.#take("]")) this.#fail("`,` or `]`");
    return list;
  }

  #string(): string {
    const token = this.#token();
    return this.#memory.string(token, this.#isCut);
  }

  /** Reads a string, including its quotes. */
  #token(): string {
    let start = this.#at++;
    let isPlain = true;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x22) break;
      const isEscape = code === 0x5c;
      if (code >= 0x20 && !isEscape) this.#at++;
      else if (this.#at + (isEscape ? MAX_ESCAPE : 1) > this.#text.length && this.#readOn(start)) start = 0;
      else if (!isEscape) this.#fail('the closing `"`');
      else {
        isPlain = false;
        this.#escape();
      }
    }
    this.#at++;
    this.#isCut = isPlain;
    return isPlain
      ? this.#text.slice(start + 1, this.#at - 1)
      : JSON.parse(this.#text.slice(start, this.#at));
  }

  #escape(): void {
    if (this.#matches(ESCAPE)) return;
    this.#at++;
    if (this.#text[this.#at] === "u") {
      this.#at++;
      this.#fail("four hexadecimal digits");
    }
    this.#fail("an escape such as `\\n` or `\\u00e9`");
  }

  #number(): number | JsonNumber {
    const short = readShortNumber(this.#text, this.#at);
    if (short !== undefined) {
      this.#at = short.end;
      this.#memory.number(short.value);
      return short.value;
    }
    let start = this.#at;
    if (this.#matches(NUMBER)) {
      // a long number may continue after the window
      while (this.#at === this.#text.length && this.#readOn(start)) {
        start = 0;
        this.#at = 0;
        this.#matches(NUMBER);
      }
      const token = this.#text.slice(start, this.#at);
      if (!isExact(token)) return this.#memory.numberAsText(token);
      const number = Number(token);
      this.#memory.number(number);
      return number;
    }
    const word = NON_FINITE.find((name) => this.#text.startsWith(name, this.#at));
    if (word === undefined || !this.#allowNonFinite(this.#path)) this.#fail("a value");
    this.#at += word.length;
    const number = Number(word);
    this.#memory.number(number);
    return number;
  }

  #word<T extends JsonValue>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail(`\`${word}\``);
    this.#at += word.length;
    return value;
  }

  #valueAt(token: string | number): JsonValue {
    this.#path.push(token);
    const value = this.#value();
    this.#path.pop();
    return value;
  }

  #enter(): void {
    this.#at++;
    if (++this.#depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
  }

  #take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  /** Steps over a match of `pattern` at the current position; false if nothing matches. */
  #matches(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #skipSpace(): void {
    do {
      for (;;) {
        const code = this.#text.charCodeAt(this.#at);
        if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
        this.#at++;
      }
    } while (this.#at + AHEAD > this.#text.length && this.#readOn(this.#at));
  }

  /** Moves the window to begin at `start` and to extend further; false at the end of the document. */
  #readOn(start: number): boolean {
    if (this.#window.isLast) return false;
    this.#text = this.#window.next(this.#text, start);
    this.#at -= start;
    this.#memory.window(this.#window.memoryOf(this.#text));
    return true;
  }

  #fail(expected: string): never {
    const place = this.#window.placeOf(this.#window.byteAt(this.#text, this.#at));
    throw notValid({ place, path: this.#path, expected, rest: this.#text.slice(this.#at, this.#at + 20) });
  }
}

/**
 * Bytes of a document that are decoded at a time. Runtimes store strings of this size apart from small values, and do
 * not move them.
 */
const WINDOW = 2 ** 18;

export const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The text of a document, one window at a time. Strings that are cut from it keep only their window alive, not the
 * whole text.
 */
export class JsonWindow {
  readonly #bytes: Uint8Array;
  /** The first byte after a byte order mark. */
  readonly #start: number;
  /** Bounds of the decoded bytes. */
  #from: number;
  #to: number;

  constructor(bytes: Uint8Array) {
    const [a, b, c] = bytes;
    this.#bytes = bytes;
    this.#start = a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0;
    this.#from = this.#start;
    this.#to = this.#start;
  }

  /** True if the window reaches the document's end. */
  get isLast(): boolean {
    return this.#to === this.#bytes.length;
  }

  /**
   * Moves the window to begin at its character `at`, and to extend further than before. Returns its text.
   *
   * @throws `invalid-metadata` if the document is not UTF-8.
   */
  next(text: string, at: number): string {
    this.#from = this.byteAt(text, at);
    const kept = this.#to - this.#from;
    this.#to = this.#lastBefore(this.#from + Math.max(WINDOW, 2 * kept));
    try {
      return UTF8.decode(this.#bytes.subarray(this.#from, this.#to));
    } catch (cause) {
      throw new ZarrflowError("invalid-metadata", "the JSON document is not UTF-8 text", {}, { cause });
    }
  }

  /** Bytes of memory that the window's text takes. */
  memoryOf(text: string): number {
    return this.#isAscii(text) ? text.length : 2 * text.length;
  }

  #isAscii(text: string): boolean {
    return text.length === this.#to - this.#from;
  }

  /** The document's byte at which character `at` of the window begins. */
  byteAt(text: string, at: number): number {
    if (this.#isAscii(text)) return this.#from + at;
    let bytes = this.#from;
    for (let i = 0; i < at; i++) {
      const code = text.charCodeAt(i);
      // each half of a surrogate pair stands for two of its four bytes
      bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
    }
    return bytes;
  }

  /** Line and column of a byte, from 1, in UTF-16 code units. */
  placeOf(end: number): { readonly line: number; readonly column: number } {
    let line = 1;
    let column = 1;
    for (let i = this.#start; i < end; i++) {
      const byte = this.#bytes[i] ?? 0;
      if (byte === 0x0a) {
        line++;
        column = 1;
      } else if ((byte & 0xc0) !== 0x80) column += byte >= 0xf0 ? 2 : 1;
    }
    return { line, column };
  }

  /** Returns the end of the last character that is complete before byte `most`. */
  #lastBefore(most: number): number {
    if (most >= this.#bytes.length) return this.#bytes.length;
    let end = most;
    while (end > most - 3 && ((this.#bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    return end;
  }
}

/** Where a document stops being valid JSON, and what was expected there. */
interface Mistake {
  readonly place: { readonly line: number; readonly column: number };
  readonly path: JsonPath;
  readonly expected: string;
  /** The text from there on; empty at the end of the document. */
  readonly rest: string;
}

export function notValid({ place: { line, column }, path, expected, rest }: Mistake): ZarrflowError {
  return new ZarrflowError("invalid-metadata", `not valid JSON at line ${line}, column ${column}`, {
    pointer: pointerOf(path),
    expected,
    found: rest === "" ? "the end of the document" : `\`${rest}\``,
  });
}

export function documentTooLarge(bytes: number, maxBytes: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the JSON document is too large", {
    expected: `at most ${maxBytes} bytes`,
    found: bytes,
  });
}

export function tooDeep(maxDepth: number): ZarrflowError {
  return new ZarrflowError("resource-limit", `the JSON document is nested more than ${maxDepth} deep`);
}

/** Digits that a double always represents exactly. */
const MAX_DIGITS = 15;

/** Powers of ten that doubles represent exactly. */
const POWERS = Array.from({ length: MAX_DIGITS + 1 }, (_, i) => Number(`1e${i}`));

const ZERO = 0x30;
const MINUS = 0x2d;
const POINT = 0x2e;

/** The last result, reused to avoid an allocation per number. */
const found = { value: 0, end: 0 };

/**
 * Returns the number at `at` and where it ends, without creating a string for its token; valid until the next call.
 * Handles only numbers of up to 15 digits that JavaScript writes in the same way. Undefined for all others, including
 * exponents, `-0` and `1.0`.
 */
export function readShortNumber(
  text: string,
  at: number,
): { readonly value: number; readonly end: number } | undefined {
  let i = at;
  const isNegative = text.charCodeAt(i) === MINUS;
  if (isNegative) i++;
  const start = i;
  let digits = 0;
  let code = text.charCodeAt(i);
  for (; isDigit(code); code = text.charCodeAt(++i)) {
    if (i - start === MAX_DIGITS) return undefined;
    digits = 10 * digits + code - ZERO;
  }
  const whole = i - start;
  if (whole === 0 || (whole > 1 && text.charCodeAt(start) === ZERO)) return undefined;
  let decimals = 0;
  if (code === POINT) {
    for (code = text.charCodeAt(++i); isDigit(code); code = text.charCodeAt(++i)) {
      if (whole + ++decimals > MAX_DIGITS) return undefined;
      digits = 10 * digits + code - ZERO;
    }
    // JavaScript writes no trailing zero, and an exponent for values below a millionth.
    if (decimals === 0 || digits % 10 === 0) return undefined;
  }
  if (code === 0x65 || code === 0x45 || (digits === 0 && isNegative)) return undefined;
  const value = decimals === 0 ? digits : digits / (POWERS[decimals] ?? Number.NaN);
  if (decimals > 0 && value < 1e-6) return undefined;
  found.value = isNegative ? -value : value;
  found.end = i;
  return found;
}

export function isDigit(code = 0): boolean {
  return code >= ZERO && code <= ZERO + 9;
}

/** Integers that JavaScript always represents exactly, because they have few digits. */
const SHORT_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/;

/** True if converting the token to a number and back gives the same token. */
export function isExact(token: string): boolean {
  if (SHORT_INTEGER.test(token)) return true;
  const value = Number(token);
  return (
    // Same result as `String`, which keeps its results in a cache.
    JSON.stringify(value) === token &&
    (!Number.isInteger(value) || Number.isSafeInteger(value) || token.includes("e"))
  );
}
