import { ZarrflowError } from "./errors.ts";

/** Bytes of a document that are text at a time: as many as a runtime keeps apart from small values, which it moves. */
const WINDOW = 2 ** 18;

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The text of a document, of which no more than a window is there at a time: strings that are cut from it hold the window
 * that they come from, and not the whole text.
 */
export class JsonWindow {
  readonly #bytes: Uint8Array;
  /** The first byte after a byte order mark. */
  readonly #start: number;
  /** The first byte that is text now, and the first that is not yet. */
  #from: number;
  #to: number;

  constructor(bytes: Uint8Array) {
    const [a, b, c] = bytes;
    this.#bytes = bytes;
    this.#start = a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0;
    this.#from = this.#start;
    this.#to = this.#start;
  }

  /** Whether the document ends with what is text now. */
  get isLast(): boolean {
    return this.#to === this.#bytes.length;
  }

  /**
   * The text from character `at` of the window on, with more after it than there was.
   *
   * @throws `invalid-metadata` for what is not UTF-8.
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

  /** The byte of the document at which character `at` of the window begins. */
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

  /** The line and the column of a byte, in characters as JavaScript counts them, both from 1. */
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

  /** Where the last character ends that is whole before byte `most`. */
  #lastBefore(most: number): number {
    if (most >= this.#bytes.length) return this.#bytes.length;
    let end = most;
    while (end > most - 3 && ((this.#bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    return end;
  }
}
