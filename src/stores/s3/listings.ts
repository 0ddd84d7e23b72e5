import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { compareUtf8 } from "../../util/names.ts";
import type { ListedEntry, UploadedPart } from "../store.ts";
import type { S3Client } from "./s3-client.ts";
import { elements, elementText } from "./xml.ts";

export interface ListRequest {
  /** Prefix of the keys and prefixes to list; they are returned with it. */
  readonly prefix: string;
  /** True to group keys below the next `/`. */
  readonly isLevel: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * Lists a bucket in the order of UTF-8 bytes, in pages of up to 1,000.
 *
 * @throws `corrupt-store` for invalid names, names outside the prefix, or names in another order, so that no
 *   listing runs in circles.
 */
export async function* listObjects(
  client: S3Client,
  { prefix, isLevel, signal }: ListRequest,
): AsyncGenerator<ListedEntry> {
  let token: string | undefined;
  let last = "";
  do {
    const query = {
      "list-type": "2",
      "encoding-type": "url",
      prefix,
      ...(isLevel && { delimiter: "/" }),
      ...(token !== undefined && { "continuation-token": token }),
    };
    const { text: page } = await client.ask("", query, { method: "GET", root: "ListBucketResult", signal });
    for (const entry of entriesOf(page)) {
      const name = nameOf(entry);
      if (!name.startsWith(prefix)) throw misled("the server listed keys outside the requested prefix", name);
      if (name === last) continue; // some servers start a page with the last name of the previous one
      if (compareUtf8(last, name) > 0) throw misled("the server did not list keys in UTF-8 order", name);
      last = name;
      yield entry;
    }
    const isMore = elementText(page, "IsTruncated") === "true";
    const next = isMore ? elementText(page, "NextContinuationToken") : undefined;
    if (isMore && !next) throw misled("the server has more keys, but returned no continuation token", last);
    if (next !== undefined && next === token) throw misled("the server returned the same page twice", last);
    token = next;
  } while (token !== undefined);
}

function misled(reason: string, key: string): ZarrflowError {
  return new ZarrflowError("corrupt-store", reason, { key });
}

/**
 * Merges keys and prefixes, which come in two sorted lists. Names are encoded only if the page says so: not all
 * servers encode them.
 */
function entriesOf(page: string): ListedEntry[] {
  const name = elementText(page, "EncodingType") === "url" ? decodedKey : (text = "") => text;
  const keys = elements(page, "Contents").map((object) => ({
    key: name(elementText(object, "Key")),
    ...sizeOf(object),
    ...etagOf(object),
  }));
  const prefixes = elements(page, "CommonPrefixes").map((common) => ({
    prefix: name(elementText(common, "Prefix")),
  }));
  if (prefixes.length === 0) return keys;
  return [...keys, ...prefixes].sort((a, b) => compareUtf8(nameOf(a), nameOf(b)));
}

function sizeOf(object: string): { readonly size?: number } {
  const size = elementText(object, "Size")?.trim() ?? "";
  return /^\d{1,15}$/.test(size) ? { size: Number(size) } : {};
}

function etagOf(object: string): { readonly etag?: string } {
  const etag = elementText(object, "ETag")?.replace(/^"|"$/g, "");
  return etag === undefined ? {} : { etag };
}

function nameOf(entry: ListedEntry): string {
  return "key" in entry ? entry.key : entry.prefix;
}

/** Decodes `encoding-type=url`, which is form encoding. @throws `corrupt-store` for other text. */
export function decodedKey(text = ""): string {
  try {
    return decodeURIComponent(text.replaceAll("+", "%20"));
  } catch {
    throw misled("the server listed an invalid key", text);
  }
}

/** Uploaded parts on the server, in order. */
interface ListedParts {
  readonly parts: readonly UploadedPart[];
  /** Time of the listing in milliseconds by the server's clock; NaN if the server does not state it. */
  readonly at: number;
}

/** Lists the parts of an upload; undefined if it was completed or aborted. */
export async function listParts(
  client: S3Client,
  { key, id }: { readonly key: string; readonly id: string },
  signal: AbortSignal | undefined,
): Promise<ListedParts | undefined> {
  const parts: UploadedPart[] = [];
  for (let marker = 0; ; ) {
    const query = { uploadId: id, "part-number-marker": String(marker) };
    const request = { method: "GET", root: "ListPartsResult", answers: [], signal } as const;
    const answer = await client.ask(key, query, request).catch((error: unknown) => {
      if (isZarrflowError(error, "source-changed")) return undefined;
      throw error;
    });
    if (answer === undefined) return undefined;
    for (const part of elements(answer.text, "Part")) {
      const [number, size] = [Number(elementText(part, "PartNumber")), Number(elementText(part, "Size"))];
      parts.push({ number, size, tag: elementText(part, "ETag") ?? "" });
    }
    const last = parts.at(-1)?.number ?? 0;
    if (elementText(answer.text, "IsTruncated") !== "true") {
      return { parts, at: Date.parse(answer.headers.get("date") ?? "") };
    }
    if (!(last > marker)) {
      throw new ZarrflowError("corrupt-store", "the server returned the same page twice", { key });
    }
    marker = last;
  }
}

/** A multipart upload that was neither completed nor aborted. */
interface S3Upload {
  readonly key: string;
  readonly id: string;
  readonly begun: Date;
}

/**
 * Lists the uploads of objects whose keys begin with `prefix`. MinIO takes the prefix for a whole key. So if a
 * server other than Amazon's lists none, the uploads of the whole bucket are listed and filtered.
 */
export async function* listUploads(
  client: S3Client,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<S3Upload> {
  let areAny = false;
  for await (const upload of uploadsBelow(client, prefix, signal)) {
    areAny = true;
    yield upload;
  }
  if (areAny || client.isAmazons || prefix === "") return;
  for await (const upload of uploadsBelow(client, "", signal)) {
    if (upload.key.startsWith(prefix)) yield upload;
  }
}

async function* uploadsBelow(
  client: S3Client,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<S3Upload> {
  let after: Record<string, string> | undefined = {};
  do {
    const query = { uploads: "", "encoding-type": "url", prefix, ...after };
    const root = "ListMultipartUploadsResult";
    const { text: page } = await client.ask("", query, { method: "GET", root, signal });
    const name = elementText(page, "EncodingType") === "url" ? decodedKey : (text = "") => text;
    for (const upload of elements(page, "Upload")) {
      yield {
        key: name(elementText(upload, "Key")),
        id: elementText(upload, "UploadId") ?? "",
        begun: new Date(elementText(upload, "Initiated") ?? ""),
      };
    }
    const key = elementText(page, "NextKeyMarker");
    const id = elementText(page, "NextUploadIdMarker");
    const isMore = elementText(page, "IsTruncated") === "true" && key !== undefined && id !== undefined;
    const next = isMore ? { "key-marker": name(key), "upload-id-marker": id } : undefined;
    const isSame = after?.["key-marker"] === next?.["key-marker"] && after?.["upload-id-marker"] === id;
    if (next !== undefined && isSame) {
      throw new ZarrflowError("corrupt-store", "the server returned the same page twice", { key: name(key) });
    }
    after = next;
  } while (after !== undefined);
}
