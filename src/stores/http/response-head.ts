/** How the end of a body shows: by its length in bytes, by chunks, or by the end of the connection. */
export type Framing = number | "chunked" | "until-close";

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([^\r]*))?(?:\r\n|$)/;
/** Folded lines, line breaks other than CRLF, and NUL, which recipients understand in different ways. */
const AMBIGUOUS = /\r\n[\t ]|(?:^|[^\r])\n|\r(?!\n)|\0/;
/** Statuses of responses without a body. */
const EMPTY = [204, 304];

/** Status and headers of a response. Headers are looked up in the text, because only a few are of interest. */
export class ResponseHead {
  readonly status: number;
  readonly statusText: string;
  /** True if the connection stays open after the response. */
  readonly isKept: boolean;
  readonly framing: Framing;
  readonly #text: string;
  readonly #lower: string;

  /**
   * @param text everything before the empty line
   * @param method method of the request
   * @throws for a response that recipients understand in different ways
   * @see RFC 9112, 6.3
   */
  constructor(text: string, method: string) {
    const [line, minor, status, reason = ""] = STATUS_LINE.exec(text) ?? [];
    if (line === undefined || AMBIGUOUS.test(text)) throw malformed();
    this.#text = text;
    this.#lower = text.toLowerCase();
    this.status = Number(status);
    this.statusText = reason;
    const connection = this.get("connection")?.toLowerCase() ?? "";
    this.isKept = minor === "1" ? !connection.includes("close") : connection.includes("keep-alive");
    this.framing = method === "HEAD" || EMPTY.includes(this.status) ? 0 : this.#framing();
  }

  /** Returns the values of a header, joined by commas; null without any. */
  get(name: string): string | null {
    const line = `\n${name.toLowerCase()}:`;
    let found: string | null = null;
    for (let at = this.#lower.indexOf(line); at >= 0; at = this.#lower.indexOf(line, at + 1)) {
      const end = this.#text.indexOf("\r", at);
      const value = this.#text.slice(at + line.length, end < 0 ? undefined : end).trim();
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
  }

  has(name: string): boolean {
    return this.#lower.includes(`\n${name.toLowerCase()}:`);
  }

  #framing(): Framing {
    const coding = this.get("transfer-encoding");
    const length = this.get("content-length");
    if (coding !== null) {
      if (coding.toLowerCase() !== "chunked" || length !== null) throw malformed();
      return "chunked";
    }
    if (length === null) return "until-close";
    if (!/^\d{1,16}$/.test(length)) throw malformed();
    return Number(length);
  }
}

/** Maximum length of a line with the size of a chunk, and of all trailers. */
const LONGEST_LINES = 16 * 1024;

/** Takes apart a body that is sent in chunks. @see RFC 9112, 7.1 */
export class ChunkedBody {
  isOver = false;
  #expected: "size" | "end of data" | "trailers" = "size";
  #left = 0;
  #line = "";
  #trailers = 0;

  /** Passes on the data in `bytes`. Returns the bytes that belong to the body. */
  take(bytes: Uint8Array, pass: (data: Uint8Array) => void): number {
    let at = 0;
    while (at < bytes.length && !this.isOver) {
      if (this.#left > 0) {
        const data = bytes.subarray(at, at + this.#left);
        this.#left -= data.length;
        at += data.length;
        pass(data);
        continue;
      }
      const end = bytes.indexOf(10, at) + 1 || bytes.length;
      for (; at < end; at++) this.#line += String.fromCharCode(bytes[at] ?? 0);
      if (this.#line.length + this.#trailers > LONGEST_LINES) throw malformed();
      if (this.#line.endsWith("\n")) this.#endLine();
    }
    return at;
  }

  #endLine(): void {
    const line = this.#line;
    this.#line = "";
    if (!line.endsWith("\r\n")) throw malformed();
    if (this.#expected === "trailers") {
      this.#trailers += line.length;
      this.isOver = line === "\r\n";
    } else if (this.#expected === "end of data") {
      if (line !== "\r\n") throw malformed();
      this.#expected = "size";
    } else {
      const [, size] = /^([\da-f]{1,12})[\t ]*(?:;.*)?\r\n$/i.exec(line) ?? [];
      if (size === undefined) throw malformed();
      this.#left = Number.parseInt(size, 16);
      this.#expected = this.#left === 0 ? "trailers" : "end of data";
    }
  }
}

export function malformed(): Error {
  return new Error("the response is not valid HTTP");
}
