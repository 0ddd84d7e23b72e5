import { ZarrflowError } from "../../../util/errors.ts";
import { connectionFailure, failureOf } from "../../http/http-failure.ts";
import type { HttpResponse } from "../../http/http-response.ts";
import { plainFetch } from "../../http/plain-fetch.ts";
import { readText } from "../../http/read-body.ts";
import { secretHeaders } from "../../http/secret-headers.ts";
import { fetchWithTimeout } from "../../remote/fetch-with-timeout.ts";
import { HOW_TO_SIGN } from "../credentials.ts";

/** A request to a service for credentials; its contents are never shown. */
export interface Question {
  readonly url: URL;
  readonly method?: "GET" | "PUT" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds for which the service may be silent. */
  readonly timeout: number;
}

/** Maximum size in bytes of a response of these services. */
const LONGEST_ANSWER = 100_000;

export interface TextAnswer {
  readonly response: HttpResponse;
  readonly text: string;
}

/** Returns the response of a service, whatever its status. @throws `transient` if there is no response. */
export async function ask({ url, timeout, headers, ...question }: Question): Promise<TextAnswer> {
  const init = { ...question, headers: secretHeaders(headers), redirect: "error" } as const;
  try {
    const response = await fetchWithTimeout(plainFetch(globalThis.fetch), url, init, { silence: timeout });
    return { text: await readText(response, LONGEST_ANSWER), response };
  } catch (error) {
    throw connectionFailure(error, url.origin);
  }
}

/** Returns the text of a successful response. @throws `transient`, `access-denied` */
export function textOfGood({ text, response }: TextAnswer, from: string): string {
  if (response.ok) return text;
  const failure = failureOf(response);
  if (failure.code === "transient") throw failure;
  throw new ZarrflowError("access-denied", `${from} returns no credentials`, {
    found: response.status,
    hint: HOW_TO_SIGN,
  });
}
