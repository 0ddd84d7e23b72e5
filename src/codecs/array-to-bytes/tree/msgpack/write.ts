import { ZarrflowError } from "../../../../util/errors.ts";
import { JsonNumber, type JsonValue } from "../../../../util/json-value.ts";
import { wordsOf } from "../../../kernels/words.ts";
import { binaryBytes } from "./binary.ts";

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
const BINARY: Header = { short: 0, shortCounts: 0, long: 0xc4, least: 1 };
const LIST: Header = { short: 0x90, shortCounts: 16, long: 0xdc, least: 2 };
const MAP: Header = { short: 0x80, shortCounts: 16, long: 0xde, least: 2 };

class Writer {
  readonly #options: WriteMsgpackOptions;
  readonly #encoder = new TextEncoder();
  #bytes = new Uint8Array(1024);
  #words = wordsOf(this.#bytes);
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
    this.#header(this.#options.hasShortTexts ? BINARY : OLD_TEXT, bytes.length);
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  #string(text: string): void {
    if (/\p{Surrogate}/u.test(text)) {
      throw new ZarrflowError("codec-error", "a text contains a lone surrogate, which UTF-8 cannot encode");
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
      this.#words = wordsOf(larger);
    }
    return start;
  }
}
