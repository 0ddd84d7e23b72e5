import { ZarrflowError } from "../../../../util/errors.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "../../../../util/json-value.ts";
import { corrupt } from "../../../failures.ts";
import { wordsOf } from "../../../kernels/words.ts";
import { floatJson } from "../json-elements.ts";
import { BINARY, binaryBytes, binaryJson } from "./binary.ts";

/** Deepest nesting of lists and maps; the same limit as for JSON. */
const MAX_DEPTH = 1000;

const NO_JSON = "Data that JSON cannot represent are not supported: extensions, and names that are not text.";

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
    this.#words = wordsOf(bytes);
  }

  end(): void {
    const { length } = this.#bytes;
    if (this.#at < length) throw corrupt("bytes follow the value", { expected: this.#at, found: length });
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
        throw new ZarrflowError("codec-error", "a map has a name that is not text", { hint: NO_JSON });
      }
      return [name, this.value(depth + 1)];
    });
    const map = Object.fromEntries(members);
    if (binaryBytes(map) === undefined) return map;
    throw new ZarrflowError("codec-error", `a map with the single name \`${BINARY}\` looks like bytes`, {
      hint: "In JSON such a map stands for bytes and cannot be read back as a map.",
    });
  }

  /** Checks that `values` more values can follow: each takes at least one byte. */
  #expect(values: number): void {
    const left = this.#bytes.length - this.#at;
    if (values > left)
      throw corrupt("a list is cut off", { expected: `${values} values`, found: `${left} bytes` });
  }

  /** Advances by `size` bytes and returns where they start. */
  #take(size: number): number {
    const start = this.#at;
    if (start + size > this.#bytes.length) {
      throw corrupt("a value is cut off", { expected: start + size, found: this.#bytes.length });
    }
    this.#at += size;
    return start;
  }
}

function integer(value: bigint): JsonValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : new JsonNumber(String(value));
}
