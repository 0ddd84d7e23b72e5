import { platformSignal } from "../../util/abort.ts";
import type { Fetch } from "../../util/platform-types.ts";
import type { HttpBody, PlainFetch } from "./http-response.ts";

/** A `fetch` of the platform, or of a program, by what is used of it. */
export function plainFetch(fetch: Fetch): PlainFetch {
  return async (url, { signal: end, ...init }) => {
    const signal = platformSignal(end);
    const request = { ...init, ...(signal && { signal }) } as RequestInit;
    const { ok, status, statusText, headers, type, body } = await fetch(url, request);
    return { ok, status, statusText, headers, type, body: body && bodyOfStream(body) };
  };
}

/** The body that a stream brings. */
export function bodyOfStream(stream: ReadableStream<Uint8Array>): HttpBody {
  return {
    async read(take) {
      const reader = stream.getReader();
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done || take(value)) return;
        }
      } finally {
        await reader.cancel().catch(() => {}); // a body that failed has been reported already
      }
    },
    cancel: () => stream.cancel(),
  };
}
