import { fromBase64, toBase64 } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "../../util/json-value.ts";
import { wordView } from "../kernels/swap-bytes.ts";
import { corrupt } from "../limits.ts";
import { floatJson } from "./object-values.ts";

/** Deepest nesting of lists and maps; the same limit as for JSON. */
const MAX_DEPTH = 1000;

const NO_JSON = "Data that JSON cannot represent is not supported: extensions, and keys that are not text.";

/**
 * Converts a MessagePack value to JSON. Integers keep all digits, floats stay floats, bytes become `binaryJson`
 * objects. Counts are checked against the remaining bytes before anything is allocated.
 *
 * @throws `corrupt-chunk` for bytes that are not MessagePack; `codec-error` for data without a JSON form;
 *   `resource-limit` if nested too deep.
 */
export function readMsgpack(bytes: Uint8Array): JsonValue {
  const reader = new Reader(bytes);
  const value = reader.value(0);
  reader.end();
  return value;
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #words: DataView;
  readonly #text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#words = wordView(bytes);
  }

  end(): void {
    const { length } = this.#bytes;
    if (this.#at < length)
      throw corrupt("extra bytes follow the value", { expected: this.#at, found: length });
  }

  value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) {
      throw new ZarrflowError("resource-limit", `the value is nested more than ${MAX_DEPTH} deep`);
    }
    const type = this.#words.getUint8(this.#take(1));
    if (type < 0x80) return type;
    if (type < 0x90) return this.#map(type & 0x0f, depth);
    if (type < 0xa0) return this.#list(type & 0x0f, depth);
    if (type < 0xc0) return this.#string(type & 0x1f);
    if (type >= 0xe0) return type - 0x100;
    return this.#long(type, depth);
  }

  /** Reads types that need more than their first byte, and constants. */
  #long(type: number, depth: number): JsonValue {
    switch (type) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xca:
        return floatJson(this.#words.getFloat32(this.#take(4)));
      case 0xcb:
        return floatJson(this.#words.getFloat64(this.#take(8)));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#count(type - 0xcc);
      case 0xcf:
        return integer(this.#words.getBigUint64(this.#take(8)));
      case 0xd0:
        return this.#words.getInt8(this.#take(1));
      case 0xd1:
        return this.#words.getInt16(this.#take(2));
      case 0xd2:
        return this.#words.getInt32(this.#take(4));
      case 0xd3:
        return integer(this.#words.getBigInt64(this.#take(8)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#string(this.#count(type - 0xd9));
      case 0xdc:
      case 0xdd:
        return this.#list(this.#count(type - 0xdc + 1), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#count(type - 0xde + 1), depth);
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#binary(this.#count(type - 0xc4));
      case 0xc1:
        throw corrupt(`byte ${this.#at - 1} is not the start of a value`);
      default:
        throw new ZarrflowError("codec-error", "the chunk holds an extension type", { hint: NO_JSON });
    }
  }

  /** An unsigned integer of 1, 2 or 4 bytes, for `log2` 0, 1 or 2. */
  #count(log2: number): number {
    if (log2 === 0) return this.#words.getUint8(this.#take(1));
    return log2 === 1 ? this.#words.getUint16(this.#take(2)) : this.#words.getUint32(this.#take(4));
  }

  #string(length: number): string {
    const start = this.#take(length);
    try {
      return this.#text.decode(this.#bytes.subarray(start, this.#at));
    } catch (cause) {
      throw corrupt(`the text at byte ${start} is not UTF-8`, {}, { cause });
    }
  }

  #binary(length: number): JsonObject {
    const start = this.#take(length);
    return binaryJson(this.#bytes.subarray(start, this.#at));
  }

  #list(count: number, depth: number): JsonValue[] {
    this.#expect(count);
    return Array.from({ length: count }, () => this.value(depth + 1));
  }

  #map(count: number, depth: number): JsonObject {
    this.#expect(2 * count);
    const members = Array.from({ length: count }, (): [string, JsonValue] => {
      const name = this.value(depth + 1);
      if (typeof name !== "string") {
        throw new ZarrflowError("codec-error", "a map has a key that is not text", { hint: NO_JSON });
      }
      return [name, this.value(depth + 1)];
    });
    const map = Object.fromEntries(members);
    if (binaryBytes(map) === undefined) return map;
    throw new ZarrflowError("codec-error", `a map with the single key \`${BINARY}\` looks like bytes`, {
      hint: "In JSON such a map stands for bytes, so it could not be read back as a map.",
    });
  }

  /** Checks that `values` more values can follow: each takes at least one byte. */
  #expect(values: number): void {
    const left = this.#bytes.length - this.#at;
    if (values > left)
      throw corrupt("a list is truncated", { expected: `${values} values`, found: `${left} bytes` });
  }

  /** Advances by `size` bytes and returns where they start. */
  #take(size: number): number {
    const start = this.#at;
    if (start + size > this.#bytes.length) {
      throw corrupt("a value is truncated", { expected: start + size, found: this.#bytes.length });
    }
    this.#at += size;
    return start;
  }
}

function integer(value: bigint): JsonValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : new JsonNumber(String(value));
}

export interface WriteMsgpackOptions {
  /** True if texts below 256 bytes may use the short header that was added together with the binary type. */
  readonly hasShortTexts: boolean;
  /** True if floats are stored in 4 bytes. */
  readonly hasSingleFloats: boolean;
}

/**
 * Encodes a JSON value as MessagePack, each part in its shortest form. Numbers with a decimal point or an exponent
 * become floats.
 *
 * @throws `codec-error` for an integer beyond 64 bits, a number too large for 4-byte floats if these were requested, or
 *   a lone surrogate.
 */
export function writeMsgpack(value: JsonValue, options: WriteMsgpackOptions): Uint8Array {
  const writer = new Writer(options);
  writer.value(value);
  return writer.written();
}

/**
 * Headers of one type: the short form contains the count, `long` is the first byte of the forms with a count of 1, 2 or
 * 4 bytes.
 */
interface Header {
  readonly short: number;
  readonly shortCounts: number;
  readonly long: number;
  /** Bytes of the shortest count after `long`. */
  readonly least: 1 | 2;
}

const TEXT: Header = { short: 0xa0, shortCounts: 32, long: 0xd9, least: 1 };
const OLD_TEXT: Header = { short: 0xa0, shortCounts: 32, long: 0xda, least: 2 };
const BINARY_HEADER: Header = { short: 0, shortCounts: 0, long: 0xc4, least: 1 };
const LIST: Header = { short: 0x90, shortCounts: 16, long: 0xdc, least: 2 };
const MAP: Header = { short: 0x80, shortCounts: 16, long: 0xde, least: 2 };

class Writer {
  readonly #options: WriteMsgpackOptions;
  readonly #encoder = new TextEncoder();
  #bytes = new Uint8Array(1024);
  #words = wordView(this.#bytes);
  #end = 0;

  constructor(options: WriteMsgpackOptions) {
    this.#options = options;
  }

  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  value(value: JsonValue): void {
    if (value === null) this.#byte(0xc0);
    else if (typeof value === "boolean") this.#byte(value ? 0xc3 : 0xc2);
    else if (typeof value === "string") this.#string(value);
    else if (typeof value === "number") {
      if (Number.isSafeInteger(value) && !Object.is(value, -0)) this.#integer(BigInt(value));
      else this.#float(value);
    } else if (value instanceof JsonNumber) {
      if (/^-?[0-9]+$/.test(value.text) && value.text !== "-0") this.#integer(BigInt(value.text));
      else this.#float(Number(value.text));
    } else if (Array.isArray(value)) {
      this.#header(LIST, value.length);
      for (const item of value) this.value(item);
    } else {
      const bytes = binaryBytes(value);
      if (bytes) this.#binary(bytes);
      else this.#map(Object.entries(value));
    }
  }

  #map(members: readonly (readonly [string, JsonValue])[]): void {
    this.#header(MAP, members.length);
    for (const [name, member] of members) {
      this.#string(name);
      this.value(member);
    }
  }

  #binary(bytes: Uint8Array): void {
    this.#header(this.#options.hasShortTexts ? BINARY_HEADER : OLD_TEXT, bytes.length);
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  #string(text: string): void {
    if (/\p{Surrogate}/u.test(text)) {
      throw new ZarrflowError("codec-error", "a string contains a lone surrogate, which UTF-8 cannot encode");
    }
    const bytes = this.#encoder.encode(text);
    this.#header(this.#options.hasShortTexts ? TEXT : OLD_TEXT, bytes.length);
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  #header({ short, shortCounts, long, least }: Header, count: number): void {
    if (count < shortCounts) this.#byte(short | count);
    else if (least === 1 && count < 2 ** 8) this.#counted(long, count, 1);
    else if (count < 2 ** 16) this.#counted(long + 2 - least, count, 2);
    else this.#counted(long + 3 - least, count, 4);
  }

  #counted(type: number, count: number, size: 1 | 2 | 4): void {
    this.#byte(type);
    const at = this.#grow(size);
    if (size === 1) this.#words.setUint8(at, count);
    else if (size === 2) this.#words.setUint16(at, count);
    else this.#words.setUint32(at, count);
  }

  #integer(value: bigint): void {
    const number = Number(value);
    if (value >= 0n) {
      if (number < 2 ** 7) this.#byte(number);
      else if (number < 2 ** 8) this.#counted(0xcc, number, 1);
      else if (number < 2 ** 16) this.#counted(0xcd, number, 2);
      else if (number < 2 ** 32) this.#counted(0xce, number, 4);
      else this.#wide(0xcf, value, BigInt.asUintN(64, value));
    } else if (number >= -32) this.#byte(number & 0xff);
    else if (number >= -(2 ** 7)) this.#counted(0xd0, number, 1);
    else if (number >= -(2 ** 15)) this.#counted(0xd1, number, 2);
    else if (number >= -(2 ** 31)) this.#counted(0xd2, number, 4);
    else this.#wide(0xd3, value, BigInt.asIntN(64, value));
  }

  #wide(type: number, value: bigint, kept: bigint): void {
    if (kept !== value) {
      throw new ZarrflowError("codec-error", "MessagePack cannot store integers of more than 64 bits", {
        value: String(value),
      });
    }
    this.#byte(type);
    const at = this.#grow(8);
    this.#words.setBigUint64(at, BigInt.asUintN(64, value));
  }

  #float(value: number): void {
    const { hasSingleFloats } = this.#options;
    if (hasSingleFloats && Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
      throw new ZarrflowError("codec-error", "a number is too large for a float of 4 bytes", { value });
    }
    this.#byte(hasSingleFloats ? 0xca : 0xcb);
    const at = this.#grow(hasSingleFloats ? 4 : 8);
    if (hasSingleFloats) this.#words.setFloat32(at, value);
    else this.#words.setFloat64(at, value);
  }

  #byte(byte: number): void {
    const at = this.#grow(1);
    this.#bytes[at] = byte;
  }

  /** Makes room for `size` bytes and returns their start. May replace `#bytes` and `#words`. */
  #grow(size: number): number {
    const start = this.#end;
    this.#end += size;
    if (this.#end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#end, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, start));
      this.#bytes = larger;
      this.#words = wordView(larger);
    }
    return start;
  }
}

/** The only member of the object that represents bytes in JSON. */
export const BINARY = "$binary";

/** Represents bytes in JSON: an object whose only member, `$binary`, holds them in Base64. */
export function binaryJson(bytes: Uint8Array): JsonObject {
  return { [BINARY]: toBase64(bytes) };
}

/** The bytes of an object made by `binaryJson`; undefined for any other value. */
export function binaryBytes(value: JsonValue): Uint8Array | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const [member, ...others] = Object.entries(value);
  const [name, text] = member ?? [];
  return name === BINARY && others.length === 0 && typeof text === "string" ? fromBase64(text) : undefined;
}
