import { ZarrflowError } from "./errors.ts";
import { type JsonPath, pointerOf } from "./json-pointer.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "./json-value.ts";

export interface ParseJsonOptions {
  /** Whether a bare `NaN`, `Infinity` or `-Infinity` may stand at `path`; by default nowhere. */
  readonly allowNonFinite?: (path: JsonPath) => boolean;
  /** Largest document, in bytes. */
  readonly maxBytes?: number;
  /** Deepest nesting of lists and objects. */
  readonly maxDepth?: number;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const HEX4 = /[0-9a-fA-F]{4}/y;
const NON_FINITE = ["NaN", "Infinity", "-Infinity"];
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/**
 * Reads JSON without loss: numbers that JavaScript would change come as `JsonNumber`. A byte order mark is taken,
 * of equal names the last wins, and every name becomes an own property, `__proto__` too. Does not keep `bytes`.
 *
 * @throws `invalid-metadata` with line and column; `resource-limit` when too large or nested too deep.
 * @see J-1 to J-4
 */
export function parseJson(bytes: Uint8Array, options: ParseJsonOptions = {}): JsonValue {
  const { maxBytes = 2 ** 28, maxDepth = 1000, allowNonFinite = () => false } = options;
  if (bytes.length > maxBytes) {
    throw new ZarrflowError("resource-limit", "the JSON document is too large", {
      expected: `at most ${maxBytes} bytes`,
      found: bytes.length,
    });
  }
  return new JsonParser(decodeUtf8(bytes), maxDepth, allowNonFinite).document();
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ZarrflowError("invalid-metadata", "the JSON document is not UTF-8 text", {}, { cause });
  }
}

class JsonParser {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #allowNonFinite: (path: JsonPath) => boolean;
  readonly #path: (string | number)[] = [];
  #at = 0;
  #depth = 0;

  constructor(text: string, maxDepth: number, allowNonFinite: (path: JsonPath) => boolean) {
    this.#text = text;
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
    this.#enter();
    if (!this.#take("}")) {
      do {
        this.#skipSpace();
        if (this.#text[this.#at] !== '"') this.#fail("a name in double quotes");
        const name = this.#string();
        if (!this.#take(":")) this.#fail("`:`");
        setMember(object, name, this.#valueAt(name));
      } while (this.#take(","));
      if (!this.#take("}")) this.#fail("`,` or `}`");
    }
    this.#depth--;
    return object;
  }

  #list(): JsonValue[] {
    const list: JsonValue[] = [];
    this.#enter();
    if (!this.#take("]")) {
      do {
        list.push(this.#valueAt(list.length));
      } while (this.#take(","));
      if (!this.#take("]")) this.#fail("`,` or `]`");
    }
    this.#depth--;
    return list;
  }

  #string(): string {
    let value = "";
    let start = ++this.#at;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (Number.isNaN(code) || code < 0x20) this.#fail('the closing `"`');
      if (code === 0x22) return value + this.#text.slice(start, this.#at++);
      if (code !== 0x5c) {
        this.#at++;
        continue;
      }
      value += this.#text.slice(start, this.#at++) + this.#escape();
      start = this.#at;
    }
  }

  #escape(): string {
    const letter = this.#text[this.#at++] ?? "";
    const plain = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
    if (plain !== undefined) return plain;
    if (letter === "u") {
      const digits = this.#match(HEX4);
      if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16));
      this.#fail("four hexadecimal digits");
    }
    this.#at--;
    return this.#fail("an escape such as `\\n` or `\\u00e9`");
  }

  #number(): number | JsonNumber {
    const token = this.#match(NUMBER);
    if (token !== undefined) return isExact(token) ? Number(token) : new JsonNumber(token);
    const word = NON_FINITE.find((name) => this.#text.startsWith(name, this.#at));
    if (word === undefined || !this.#allowNonFinite(this.#path)) this.#fail("a value");
    this.#at += word.length;
    return Number(word);
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
    if (++this.#depth > this.#maxDepth) {
      throw new ZarrflowError(
        "resource-limit",
        `the JSON document is nested more than ${this.#maxDepth} deep`,
      );
    }
  }

  #take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const token = pattern.exec(this.#text)?.[0];
    this.#at += token?.length ?? 0;
    return token;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #fail(expected: string): never {
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    const column = this.#at - before.lastIndexOf("\n");
    const rest = this.#text.slice(this.#at, this.#at + 20);
    throw new ZarrflowError("invalid-metadata", `not valid JSON at line ${line}, column ${column}`, {
      pointer: pointerOf(this.#path),
      expected,
      found: rest === "" ? "the end of the document" : `\`${rest}\``,
    });
  }
}

/** Whether JavaScript's number says all that the token says. */
function isExact(token: string): boolean {
  const value = Number(token);
  return (
    String(value) === token &&
    (!Number.isInteger(value) || Number.isSafeInteger(value) || token.includes("e"))
  );
}

/** Sets an own property, whatever its name. */
function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}
