import type { Abortable } from "../../util/abort.ts";

/** The body of an answer, which is read once, or cancelled. */
export interface HttpBody {
  /**
   * Gives its pieces as they come, until it ends; what follows is cancelled when `take` returns true, or throws. A piece
   * is only valid until `take` returns.
   *
   * @throws what `take` throws; the platform's error where the body breaks off.
   */
  read(take: TakePiece): Promise<void>;
  cancel(): Promise<void>;
}

/** Takes a piece of a body. Returns whether no more is wanted. */
export type TakePiece = (piece: Uint8Array) => boolean;

/** What is used of an answer to a request: `fetch` gives more. */
export interface HttpResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null; has(name: string): boolean };
  readonly body: HttpBody | null;
  /** As `fetch` gives it, `opaqueredirect` where browsers hide where a request is sent on to. */
  readonly type?: string;
  /** What a server that denies access was sent of the caller's. */
  readonly credentials?: SentCredentials;
}

/** The query and the headers of the caller's, as the server had them that answered. */
export interface SentCredentials {
  readonly sent: readonly ("query" | "headers")[];
  /** The server that a request was redirected to, and that did not get the headers. */
  readonly withheldFrom?: string;
}

/** What is used of `fetch`, whose answers have other bodies. */
export type PlainFetch = (
  url: URL,
  init: Omit<RequestInit, "headers" | "signal"> & {
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: Abortable | null | undefined;
  },
) => Promise<HttpResponse>;
