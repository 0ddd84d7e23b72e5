import { ZarrflowError } from "./errors.ts";

/**
 * Bytes of a document that are decoded at a time. Runtimes store strings of this size apart from small values, and do
 * not move them.
 */
const WINDOW = 2 ** 18;

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
