import { compareUtf8 } from "../../util/utf8-order.ts";
import type { ListedEntry } from "../store.ts";
import type { S3Client } from "./s3-client.ts";
import { elements, textOf } from "./xml.ts";

export interface ListRequest {
  /** Keys and prefixes begin with it; what is given back does too. */
  readonly prefix: string;
  /** Whether keys below the next `/` are taken together. */
  readonly isLevel: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Lists a bucket in the order of UTF-8 bytes, a page of up to 1,000 at a time. */
export async function* listObjects(
  client: S3Client,
  { prefix, isLevel, signal }: ListRequest,
): AsyncGenerator<ListedEntry> {
  let token: string | undefined;
  do {
    const query = {
      "list-type": "2",
      "encoding-type": "url",
      prefix,
      ...(isLevel && { delimiter: "/" }),
      ...(token !== undefined && { "continuation-token": token }),
    };
    const { text: page } = await client.ask("", query, { method: "GET", signal });
    yield* entriesOf(page);
    token = textOf(page, "IsTruncated") === "true" ? textOf(page, "NextContinuationToken") : undefined;
  } while (token !== undefined);
}

/** Keys and prefixes come in two lists, each in order. */
function entriesOf(page: string): ListedEntry[] {
  const keys = elements(page, "Contents").map((object) => ({
    key: decoded(textOf(object, "Key")),
    size: Number(textOf(object, "Size")),
  }));
  const prefixes = elements(page, "CommonPrefixes").map((common) => ({
    prefix: decoded(textOf(common, "Prefix")),
  }));
  if (prefixes.length === 0) return keys;
  return [...keys, ...prefixes].sort((a, b) => compareUtf8(nameOf(a), nameOf(b)));
}

function nameOf(entry: ListedEntry): string {
  return "key" in entry ? entry.key : entry.prefix;
}

/** `encoding-type=url` encodes as forms do. */
function decoded(text = ""): string {
  return decodeURIComponent(text.replaceAll("+", "%20"));
}
