import { ZarrflowError } from "./errors.ts";
import { JsonNumber, type JsonValue } from "./json-value.ts";

/** Lists of up to so many items take no room for more. */
const MAX_SHORT = 16;

/** Values of up to so many bytes are never refused. */
const SMALL = 16 * 2 ** 20;
/** How many times the bytes of a document its values may take, */
const MAX_RATIO = 3.25;
/** and with the document itself, beside what a runtime takes in which to make values. */
const MAX_PEAK_RATIO = 6;
const MAKING = 30 * 2 ** 20;

/** Members for which an object has room from its begin. */
const MAX_INNER = 4;
/** Members of an object that a runtime keeps as a shape, which objects share; with more it becomes a table. */
const MAX_SHAPED = 12;

/** Strings that are kept once: so many, of so many characters. */
const MAX_WORDS = 4096;
const MAX_WORD = 32;

/** Characters from which on a string that is cut from another is a view of it. */
const MIN_VIEW = 13;

/** Bytes that values take at most while they are being made, as measured with V8. */
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
 * Bytes that the values of a document of `byteLength` may take: 3.25 times as many, less where reading it would take more
 * than six times its bytes, and 16 MiB at least. Who lets documents be larger than they are lets their values be dense;
 * undefined where nobody asked.
 */
export function maxMemoryOf(byteLength: number): number;
export function maxMemoryOf(byteLength: number | undefined): number | undefined;
export function maxMemoryOf(byteLength: number | undefined): number | undefined {
  if (byteLength === undefined) return undefined;
  const most = (MAX_PEAK_RATIO - 1) * byteLength - MAKING;
  return Math.max(SMALL, Math.min(most, MAX_RATIO * byteLength));
}

/** What objects of the same first names share; what follows them, by the next name. */
type Shape = Map<string, Shape>;

/**
 * Counts the memory that the values of a document take, and refuses a document whose values take many times its bytes, as
 * those of `[[],[],[]` and of objects without a name in common do.
 */
export class JsonMemory {
  #left: number;
  readonly #limit: number;
  readonly #shapes: Shape = new Map();
  readonly #words = new Map<string, string>();
  readonly #numbers = new Map<string, JsonNumber>();

  /** Bytes of the text that strings hold which are cut from it; 0 once that is counted. */
  #window = 0;

  /** @param limit the bytes that values may take. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#left = limit;
  }

  /** Notes that strings are cut from now on from a text of so many bytes. */
  window(bytes: number): void {
    this.#window = bytes;
  }

  list(): void {
    this.#take(LIST);
  }

  /**
   * @param index how many items came before.
   * @param areNumbers whether all items up to this one are numbers, whose place holds them whatever they are.
   */
  item(index: number, value: JsonValue, areNumbers: boolean): void {
    if (!areNumbers || isSmall(value)) this.#take(index < MAX_SHORT ? ITEM : 2 * ITEM);
  }

  /**
   * The string, or one of the same text that came before: units and names of dimensions do again and again.
   *
   * @param isCut whether it is cut from the window, and not made anew.
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

  /** A number that is kept as its token, or one of the same token that came before, as `0.0` and `1.0` do again and again. */
  numberAsText(token: string): JsonNumber {
    const known = this.#numbers.get(token);
    if (known !== undefined) return known;
    this.#take(NUMBER_AS_TEXT);
    const number = new JsonNumber(token);
    if (token.length <= MAX_WORD && this.#numbers.size < MAX_WORDS) this.#numbers.set(token, number);
    return number;
  }

  /** Begins an object; its members come next, each with what the one before returned. */
  object(): Shape {
    this.#take(OBJECT);
    return this.#shapes;
  }

  /** @param index how many members came before. */
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

  /** Counts the window, from when on a string is kept that is a view of it. */
  #hold(text: string): void {
    if (text.length < MIN_VIEW) return;
    this.#take(this.#window);
    this.#window = 0;
  }

  #take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    throw new ZarrflowError("resource-limit", "the parsed values of the JSON document need too much memory", {
      expected: `at most ${Math.floor(this.#limit)} bytes`,
      hint: "Raise `maxMetadata`, or `--max-metadata` of the command: parsed values may then take up to 3.25 times that size.",
    });
  }
}

/** Whether a value takes no memory but its place. */
function isSmall(value: JsonValue): boolean {
  return typeof value === "number" && value === (value | 0);
}

/** The items of all pieces, without room for more where they are few. */
export function joined(pieces: readonly JsonValue[][]): JsonValue[] {
  const [first = [], ...others] = pieces;
  if (others.length > 0) return ([] as JsonValue[]).concat(...pieces);
  return first.length > MAX_SHORT ? first : first.slice();
}
