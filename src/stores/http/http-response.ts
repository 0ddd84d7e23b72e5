import type { Abortable } from "../../util/abort.ts";

/** The body of a response. It is read once, or cancelled. */
export interface HttpBody {
  /**
   * Passes the pieces to `take` as they arrive, until the body ends. If `take` returns true or throws, the rest is
   * cancelled. A piece is valid only until `take` returns.
   *
   * @throws the errors of `take`; the platform's error if the body breaks off.
   */
  read(take: TakePiece): Promise<void>;
  cancel(): Promise<void>;
}

/** Takes a piece of a body. Returns true if no more is needed. */
export type TakePiece = (piece: Uint8Array) => boolean;

/** The part of a `fetch` response that is used. */
export interface HttpResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null; has(name: string): boolean };
  readonly body: HttpBody | null;
  /** Type of the response in `fetch`: `opaqueredirect` if a browser hides a redirect. */
  readonly type?: string;
  /** Credentials that were sent to a server that denies access. */
  readonly credentials?: SentCredentials;
}

/** The caller's query and headers, as far as the responding server got them. */
export interface SentCredentials {
  readonly sent: readonly ("query" | "headers")[];
  /** The server after a redirect, which did not get the headers. */
  readonly withheldFrom?: string;
}

/** The part of `fetch` that is used, with another type of body. */
export type PlainFetch = (
  url: URL,
  init: Omit<RequestInit, "headers" | "signal"> & {
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: Abortable | null | undefined;
  },
) => Promise<HttpResponse>;
