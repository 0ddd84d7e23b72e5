import { platformSignal } from "../../util/abort.ts";
import type { Fetch } from "../../util/platform-types.ts";
import type { PlainFetch } from "./http-response.ts";
import { bodyOfStream } from "./stream-body.ts";

/** Adapts `fetch`, the platform's or a program's, to the part of it that is used. */
export function plainFetch(fetch: Fetch): PlainFetch {
  return async (url, { signal: end, ...init }) => {
    const signal = platformSignal(end);
    const request = { ...init, ...(signal && { signal }) } as RequestInit;
    const { ok, status, statusText, headers, type, body } = await fetch(url, request);
    return { ok, status, statusText, headers, type, body: body && bodyOfStream(body) };
  };
}
