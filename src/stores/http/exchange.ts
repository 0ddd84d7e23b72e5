import type { Socket } from "node:net";
import type { HttpBody, HttpResponse, TakePiece } from "./http-response.ts";
import { ChunkedBody, type Framing, malformed, ResponseHead } from "./response-head.ts";

/** Maximum size in bytes of the status line and the headers of a response, as in Node. */
const LONGEST_HEAD = 16 * 1024;
const END_OF_HEAD = "\r\n\r\n";
const NOTHING = new Uint8Array(0);

/** Reports what becomes of an exchange. */
export interface ExchangeEnds {
  readonly resolve: (response: HttpResponse) => void;
  readonly reject: (error: unknown) => void;
  /** Called once, with the response if another exchange may follow on the connection. */
  readonly onEnd: (kept: ResponseHead | undefined) => void;
}

/**
 * A request and its response on a connection. It is the response's body as well, whose pieces are passed on from
 * the connection's buffer: no more is read from the connection until they are asked for.
 */
export class Exchange implements HttpBody {
  readonly #socket: Socket;
  readonly #method: string;
  readonly #ends: ExchangeEnds;
  /** The beginning of a head that has not arrived as a whole. */
  #begun: Buffer | undefined;
  #head: ResponseHead | undefined;
  #framing: Framing = 0;
  #chunked: ChunkedBody | undefined;
  /** Bytes in the connection's buffer that nobody has asked for. */
  #rest: Uint8Array | undefined;
  #take: TakePiece | undefined;
  #hasEnough = false;
  #isPaused = false;
  #reading: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined;
  #isOver = false;
  #failure: unknown;

  constructor(socket: Socket, method: string, ends: ExchangeEnds) {
    this.#socket = socket;
    this.#method = method;
    this.#ends = ends;
  }

  /** @param head the request line and the headers, with an empty line at the end */
  send(head: string, body: Uint8Array | undefined): void {
    if (body === undefined) this.#socket.write(head, "latin1");
    else {
      this.#socket.cork();
      this.#socket.write(head, "latin1");
      this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  /** Handles what arrived in the connection's buffer. Returns false if the connection shall read no more. */
  received(bytes: Uint8Array): boolean {
    try {
      if (this.#take) this.#pass(bytes);
      else this.#readHead(bytes);
    } catch (error) {
      this.fail(error);
    }
    const isWaiting = this.#head !== undefined && this.#take === undefined;
    this.#isPaused = isWaiting && !this.#isOver && !this.#isInBuffer();
    return !this.#isPaused;
  }

  /** Handles the end of the connection. */
  closed(error?: Error): void {
    if (this.#isOver || this.#isInBuffer()) return;
    if (error === undefined && this.#head && this.#framing === "until-close") this.#finish(false);
    else this.fail(error ?? this.#cut());
  }

  /** Ends the exchange, and its connection. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#failure = error;
    this.#end(undefined);
    if (this.#head === undefined) this.#ends.reject(error);
    this.#reading?.reject(error);
  }

  read(take: TakePiece): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(this.#failure ?? this.#cut());
      this.#reading = { resolve, reject };
      this.#take = take;
      const wasPaused = this.#isPaused;
      this.received(this.#rest ?? NOTHING);
      if (wasPaused) this.#socket.resume();
    });
  }

  async cancel(): Promise<void> {
    if (this.#isOver) return;
    if (this.#reading) return this.fail(this.#cut());
    this.#hasEnough = true;
    await this.read(() => true).catch(() => {});
  }

  #readHead(arrived: Uint8Array): void {
    const { buffer, byteOffset, length } = arrived;
    let bytes = this.#begun
      ? Buffer.concat([this.#begun, arrived])
      : Buffer.from(buffer as ArrayBuffer, byteOffset, length);
    for (;;) {
      const end = bytes.indexOf(END_OF_HEAD);
      if ((end < 0 ? bytes.length : end) > LONGEST_HEAD) throw malformed();
      if (end < 0) {
        this.#begun = Buffer.from(bytes);
        return;
      }
      const head = new ResponseHead(bytes.toString("latin1", 0, end), this.#method);
      bytes = bytes.subarray(end + END_OF_HEAD.length);
      if (head.status === 101) throw this.#cut(); // the server switches to another protocol
      if (head.status < 200) continue;
      // no Buffer, whose `slice` makes no copy
      this.#answered(head, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
      return;
    }
  }

  #answered(head: ResponseHead, rest: Uint8Array): void {
    this.#head = head;
    this.#framing = head.framing;
    if (head.framing === "chunked") this.#chunked = new ChunkedBody();
    const { status, statusText } = head;
    const hasBody = head.framing !== 0;
    if (hasBody) this.#rest = rest;
    else this.#finish(rest.length === 0);
    const ok = status >= 200 && status < 300;
    this.#ends.resolve({ ok, status, statusText, headers: head, body: hasBody ? this : null });
  }

  /** Passes on a part of the body. */
  #pass(bytes: Uint8Array): void {
    this.#rest = undefined;
    let used = bytes.length;
    if (this.#chunked) used = this.#chunked.take(bytes, (data) => this.#passPiece(data));
    else if (typeof this.#framing === "number") {
      used = Math.min(used, this.#framing);
      this.#framing -= used;
      this.#passPiece(used === bytes.length ? bytes : bytes.subarray(0, used));
    } else this.#passPiece(bytes);
    if (this.#framing === 0 || this.#chunked?.isOver) this.#finish(used === bytes.length);
    else if (this.#hasEnough) this.#finish(false);
  }

  #passPiece(piece: Uint8Array): void {
    if (!this.#hasEnough && piece.length > 0) this.#hasEnough = this.#take?.(piece) === true;
  }

  /** True if the rest of the body is in the buffer. */
  #isInBuffer(): boolean {
    return (
      this.#rest !== undefined && typeof this.#framing === "number" && this.#rest.length >= this.#framing
    );
  }

  #finish(isKept: boolean): void {
    const { writableLength, destroyed } = this.#socket;
    this.#end(isKept && this.#head?.isKept && writableLength === 0 && !destroyed ? this.#head : undefined);
    this.#reading?.resolve();
  }

  #end(kept: ResponseHead | undefined): void {
    this.#isOver = true;
    this.#rest = undefined;
    this.#ends.onEnd(kept);
  }

  #cut(): Error {
    const where = this.#head ? "in the middle of the response" : "before the response";
    return Object.assign(new Error(`the connection was closed ${where}`), { code: "ECONNRESET" });
  }
}
