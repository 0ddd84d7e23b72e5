import { ZarrflowError } from "./errors.ts";
import { JsonNumber, type JsonValue } from "./json-value.ts";

/** Lists of up to this many items have no spare room. */
const MAX_SHORT = 16;

/** Values of up to this many bytes are always accepted. */
const SMALL = 16 * 2 ** 20;
/** Limit of the values' memory, as a multiple of the document's size. */
const MAX_RATIO = 3.25;
/** Limit including the document itself, less a fixed amount that the runtime needs while it creates values. */
const MAX_PEAK_RATIO = 6;
const MAKING = 30 * 2 ** 20;

/** Members that fit into a new object. */
const MAX_INNER = 4;
/** Members up to which objects share a shape; a larger object becomes a table. */
const MAX_SHAPED = 12;

/** Limits of deduplicated strings: their number, and the characters of each. */
const MAX_WORDS = 4096;
const MAX_WORD = 32;

/** Length from which a substring is a view of the original string. */
const MIN_VIEW = 13;

/** Most bytes that each value takes while values are created, measured with V8. */
const OBJECT = 56;
const LIST = 48;
const ITEM = 8;
const STRING = 32;
const FRACTION = 16;
const NUMBER_AS_TEXT = 64;
const MEMBER = 16;
const MEMBER_OF_TABLE = 144;
const SHAPE = 400;

/**
 * Bytes that the values of a document of `byteLength` may take. This is 3.25 times the document, less if reading
 * would take more than six times its bytes in total, and at least 16 MiB. A larger `maxMetadata` therefore allows
 * denser values. Undefined for an undefined `byteLength`.
 */
export function maxMemoryOf(byteLength: number): number;
export function maxMemoryOf(byteLength: number | undefined): number | undefined;
export function maxMemoryOf(byteLength: number | undefined): number | undefined {
  if (byteLength === undefined) return undefined;
  const most = (MAX_PEAK_RATIO - 1) * byteLength - MAKING;
  return Math.max(SMALL, Math.min(most, MAX_RATIO * byteLength));
}

/** A tree of member names: objects that begin with the same names share memory. Maps the next name to its subtree. */
type Shape = Map<string, Shape>;

/**
 * Counts the memory that the values of a document take. Rejects documents whose values take many times their bytes,
 * such as `[[],[],[]` or objects without common names.
 */
export class JsonMemory {
  #left: number;
  readonly #limit: number;
  readonly #shapes: Shape = new Map();
  readonly #words = new Map<string, string>();
  readonly #numbers = new Map<string, JsonNumber>();

  /** Bytes of the text that substrings keep alive; 0 once counted. */
  #window = 0;

  /** @param limit bytes that the values may take. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#left = limit;
  }

  /** Notes that the strings that follow are cut from a text of `bytes` bytes. */
  window(bytes: number): void {
    this.#window = bytes;
  }

  list(): void {
    this.#take(LIST);
  }

  /**
   * @param index number of items before this one
   * @param areNumbers whether all items up to this one are numbers, which are stored in place
   */
  item(index: number, value: JsonValue, areNumbers: boolean): void {
    if (!areNumbers || isSmall(value)) this.#take(index < MAX_SHORT ? ITEM : 2 * ITEM);
  }

  /**
   * Returns the string, or an equal one seen before: units and names of dimensions repeat often.
   *
   * @param isCut whether the string is a slice of the window and not newly created
   */
  string(text: string, isCut: boolean): string {
    const isWord = text.length <= MAX_WORD;
    const known = isWord ? this.#words.get(text) : undefined;
    if (known !== undefined) return known;
    this.#take(isCut ? STRING : STRING + 2 * text.length);
    if (isCut) this.#hold(text);
    if (isWord && this.#words.size < MAX_WORDS) this.#words.set(text, text);
    return text;
  }

  number(value: number): void {
    if (!isSmall(value)) this.#take(FRACTION);
  }

  /** Returns a number kept as its token, or an equal one seen before: `0.0` and `1.0` repeat often. */
  numberAsText(token: string): JsonNumber {
    const known = this.#numbers.get(token);
    if (known !== undefined) return known;
    this.#take(NUMBER_AS_TEXT);
    const number = new JsonNumber(token);
    if (token.length <= MAX_WORD && this.#numbers.size < MAX_WORDS) this.#numbers.set(token, number);
    return number;
  }

  /** Begins an object. Pass the returned shape to the first `member`, and each result to the next. */
  object(): Shape {
    this.#take(OBJECT);
    return this.#shapes;
  }

  /** @param index number of members before this one */
  member(shape: Shape, name: string, index: number): Shape {
    if (index >= MAX_SHAPED) {
      this.#take(MEMBER_OF_TABLE + name.length);
      return shape;
    }
    if (index >= MAX_INNER) this.#take(MEMBER);
    const known = shape.get(name);
    if (known) return known;
    this.#take(SHAPE + name.length);
    this.#hold(name);
    const next: Shape = new Map();
    shape.set(name, next);
    return next;
  }

  /** Counts the window once a kept string is a view of it. */
  #hold(text: string): void {
    if (text.length < MIN_VIEW) return;
    this.#take(this.#window);
    this.#window = 0;
  }

  #take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    throw new ZarrflowError("resource-limit", "the parsed JSON document takes too much memory", {
      expected: `at most ${Math.floor(this.#limit)} bytes`,
      hint: "Raise `maxMetadata` (--max-metadata): parsed values may take up to 3.25 times that size.",
    });
  }
}

/** True if a value needs no memory beyond its slot. */
function isSmall(value: JsonValue): boolean {
  return typeof value === "number" && value === (value | 0);
}

/** Joins all pieces, without spare room if they are few. */
export function joined(pieces: readonly JsonValue[][]): JsonValue[] {
  const [first = [], ...others] = pieces;
  if (others.length > 0) return ([] as JsonValue[]).concat(...pieces);
  return first.length > MAX_SHORT ? first : first.slice();
}
