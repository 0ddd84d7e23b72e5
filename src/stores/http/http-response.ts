/** What is used of an answer to a request: `fetch` gives more. */
export interface HttpResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null; has(name: string): boolean };
  readonly body: ReadableStream<Uint8Array> | null;
  /** As `fetch` gives it, `opaqueredirect` where browsers hide where a request is sent on to. */
  readonly type?: string;
}

/** What is used of `fetch`. */
export type PlainFetch = (
  url: URL,
  init: Omit<RequestInit, "headers" | "signal"> & {
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal | null;
  },
) => Promise<HttpResponse>;
