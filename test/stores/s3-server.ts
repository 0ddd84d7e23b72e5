import { createHash, createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { S3Store, type S3StoreOptions } from "../../src/stores/s3.ts";
import { crc32 } from "../../src/util/crc32.ts";
import { compareUtf8 } from "../../src/util/names.ts";

export const ACCESS_KEY = "testkey";
export const SECRET_KEY = "testsecret123";
export const BUCKET = "bucket";
const CREDENTIALS = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };

/** A request as it came. */
export interface S3Seen {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Answers a request in place of the server, or leaves it to it, now or later. */
export type S3Fault = (response: ServerResponse, request: S3Seen) => boolean | Promise<boolean>;

/** What belongs to an access key. */
export interface S3Key {
  readonly secret: string;
  readonly token?: string;
  readonly isExpired?: boolean;
}

/** One bucket in memory behind the S3 protocol on 127.0.0.1; signatures and checksums are verified. */
export interface S3Server {
  readonly endpoint: string;
  readonly objects: Map<string, Buffer>;
  /** Uploads that were begun and not ended, by id. */
  readonly uploads: Map<string, Map<number, Buffer>>;
  /** Those who may ask, by their access key. */
  readonly keys: Map<string, S3Key>;
  readonly requests: S3Seen[];
  /** Taken one for each request, until there are no more. */
  readonly faults: S3Fault[];
  /** Asked before those, for every request. */
  fault: S3Fault | undefined;
  close(): Promise<void>;
}

/** A store in a bucket that asks once for each value. */
export function storeIn(
  { endpoint }: Pick<S3Server, "endpoint">,
  more: Partial<S3StoreOptions> = {},
): S3Store {
  return new S3Store({ bucket: BUCKET, endpoint, credentials: CREDENTIALS, retry: { attempts: 1 }, ...more });
}

/** An answer that is an error, as a fault. */
export function refusal(status: number, code?: string, headers: Record<string, string> = {}): S3Fault {
  return (response) => {
    response.writeHead(status, headers).end(code && `<Error><Code>${code}</Code></Error>`);
    return true;
  };
}

/** An answer that is an error. */
class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;

  constructor(status: number, code: string, headers: Record<string, string> = {}) {
    super(code);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export async function serveBucket({
  pageSize = 1000,
  region = "us-east-1",
  open = false,
  bucket: ownBucket = BUCKET,
  leastPart = 5 * 2 ** 20,
} = {}): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const modified = new Map<string, string>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const uploadKeys = new Map<string, string>();
  const keys = new Map<string, S3Key>([[ACCESS_KEY, { secret: SECRET_KEY }]]);
  const requests: S3Seen[] = [];
  const faults: S3Fault[] = [];
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of incoming) pieces.push(piece);
    } catch {
      return; // its sender is gone
    }
    const url = new URL(incoming.url ?? "", "http://host");
    const [, bucket = "", ...rest] = url.pathname.split("/").map(decodeURIComponent);
    const request: S3Seen = {
      method: incoming.method ?? "",
      key: rest.join("/"),
      query: url.searchParams,
      headers: incoming.headers,
      body: Buffer.concat(pieces),
    };
    requests.push(request);
    if (await served.fault?.(response, request)) return;
    if (await faults.shift()?.(response, request)) return;
    try {
      if (!open) verifySignature(request, url, { region, keys });
      if (bucket !== ownBucket) throw new Refusal(404, "NoSuchBucket");
      verifyChecksum(request);
      answer(response, request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const body = `<?xml version="1.0"?><Error><Code>${error.code}</Code><Message>${ACCESS_KEY}</Message></Error>`;
      response.writeHead(error.status, error.headers).end(request.method === "HEAD" ? undefined : body);
    }
  });

  function answer(response: ServerResponse, request: S3Seen): void {
    const { method, key, query, body } = request;
    const upload = query.get("uploadId");
    if (key === "" && query.has("uploads")) response.end(uploadListing(query));
    else if (key === "" && query.has("delete")) response.end(deleteNamed(body));
    else if (key === "" && method === "GET") response.end(listing(query));
    else if (key === "" && method === "HEAD") response.end();
    else if (upload !== null && method === "GET") response.end(partListing(upload, query));
    else if (method === "GET" || method === "HEAD") read(response, request);
    else if (method === "POST" && query.has("uploads")) {
      const id = randomUUID();
      uploads.set(id, new Map());
      uploadKeys.set(id, key);
      response.end(
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    } else if (upload !== null) endOrPart(response, request, upload);
    else if (method === "PUT" && request.headers["x-amz-copy-source"] !== undefined) {
      const value = copySource(request);
      store(key, value);
      response.end(`<CopyObjectResult><ETag>${tagOf(value)}</ETag></CopyObjectResult>`);
    } else if (method === "PUT") {
      if (request.headers["if-none-match"] === "*" && objects.has(key)) {
        throw new Refusal(412, "PreconditionFailed");
      }
      store(key, body);
      response.writeHead(200, { etag: tagOf(body) }).end();
    } else {
      objects.delete(key);
      response.writeHead(204).end();
    }
  }

  function store(key: string, body: Buffer): void {
    objects.set(key, body);
    modified.set(key, new Date().toUTCString());
  }

  function deleteNamed(body: Buffer): string {
    const named = [...body.toString().matchAll(/<Key>(.*?)<\/Key>/g)];
    for (const [, key = ""] of named) objects.delete(unescaped(key));
    return "<DeleteResult/>";
  }

  function partListing(id: string, query: URLSearchParams): string {
    const after = Number(query.get("part-number-marker") ?? 0);
    const parts = uploads.get(id);
    if (parts === undefined) throw new Refusal(404, "NoSuchUpload");
    const left = [...parts].filter(([number]) => number > after).sort(([a], [b]) => a - b);
    const page = left.slice(0, pageSize).map(([number, part]) => {
      const tag = tagOf(part).replaceAll('"', "&quot;");
      return `<Part><PartNumber>${number}</PartNumber><ETag>${tag}</ETag><Size>${part.length}</Size></Part>`;
    });
    return `<ListPartsResult>${page.join("")}<IsTruncated>${left.length > pageSize}</IsTruncated></ListPartsResult>`;
  }

  function endOrPart(
    response: ServerResponse,
    { method, key, query, headers, body }: S3Seen,
    id: string,
  ): void {
    const parts = uploads.get(id);
    if (parts === undefined) throw new Refusal(404, "NoSuchUpload");
    if (method === "PUT") {
      const isCopy = headers["x-amz-copy-source"] !== undefined;
      const part = isCopy ? copySource({ headers }) : body;
      parts.set(Number(query.get("partNumber")), part);
      const etag = tagOf(part);
      response
        .writeHead(200, { etag })
        .end(isCopy ? `<CopyPartResult><ETag>${etag}</ETag></CopyPartResult>` : "");
      return;
    }
    uploads.delete(id);
    if (method === "DELETE") return void response.writeHead(204).end();
    const named = [...body.toString().matchAll(/<ETag>(.*?)<\/ETag><PartNumber>(\d+)</g)];
    const joined = named.map(([, tag = "", number]) => {
      const part = parts.get(Number(number));
      if (part === undefined || tagOf(part) !== unescaped(tag)) throw new Refusal(400, "InvalidPart");
      return part;
    });
    if (joined.slice(0, -1).some((part) => part.length < leastPart)) throw new Refusal(400, "EntityTooSmall");
    store(key, Buffer.concat(joined));
    response.end("<CompleteMultipartUploadResult/>");
  }

  /** What a request to copy names: an object of the bucket, or a range of it. */
  function copySource({ headers }: Pick<S3Seen, "headers">): Buffer {
    const [, , ...rest] = String(headers["x-amz-copy-source"]).split("/").map(decodeURIComponent);
    const value = objects.get(rest.join("/"));
    if (value === undefined) throw new Refusal(404, "NoSuchKey");
    const tag = headers["x-amz-copy-source-if-match"];
    if (tag !== undefined && tag !== tagOf(value)) throw new Refusal(412, "PreconditionFailed");
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(headers["x-amz-copy-source-range"])) ?? [];
    return first === undefined ? value : value.subarray(Number(first), Number(last) + 1);
  }

  function read(response: ServerResponse, { method, key, headers }: S3Seen): void {
    const value = objects.get(key);
    if (value === undefined) throw new Refusal(404, "NoSuchKey");
    const etag = tagOf(value);
    if ((headers["if-match"] ?? etag) !== etag) throw new Refusal(412, "PreconditionFailed");
    const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? "") ?? [];
    if (first === "" && last === "") {
      const headers = { etag, "content-length": value.length, "last-modified": modified.get(key) ?? "" };
      return void response.writeHead(200, headers).end(method === "HEAD" ? undefined : value);
    }
    const start = first === "" ? Math.max(0, value.length - Number(last)) : Number(first);
    const end = first === "" || last === "" ? value.length : Math.min(Number(last) + 1, value.length);
    if (start >= value.length) throw new Refusal(416, "InvalidRange");
    const range = `bytes ${start}-${end - 1}/${value.length}`;
    response.writeHead(206, { etag, "content-length": end - start, "content-range": range });
    response.end(value.subarray(start, end));
  }

  function listing(query: URLSearchParams): string {
    const prefix = query.get("prefix") ?? "";
    const delimiter = query.get("delimiter");
    const after = query.get("continuation-token") ?? "";
    const names = new Map<string, number | undefined>();
    for (const key of [...objects.keys()].sort(compareUtf8)) {
      if (!key.startsWith(prefix)) continue;
      const slash = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
      if (slash < 0) names.set(key, objects.get(key)?.length);
      else names.set(key.slice(0, slash + 1), undefined);
    }
    const left = [...names].filter(([name]) => after === "" || compareUtf8(name, after) > 0);
    const page = left.slice(0, pageSize);
    const isTruncated = left.length > page.length;
    const encoded = (name: string) => encodeURIComponent(name).replaceAll("%20", "+").replaceAll("%2F", "/");
    const items = page.map(([name, size]) =>
      size === undefined
        ? `<CommonPrefixes><Prefix>${encoded(name)}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${encoded(name)}</Key><ETag>${tagOf(objects.get(name) ?? Buffer.alloc(0))}</ETag><Size>${size}</Size></Contents>`,
    );
    const next = isTruncated ? `<NextContinuationToken>${page.at(-1)?.[0]}</NextContinuationToken>` : "";
    return `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>${next}${items.join("")}</ListBucketResult>`;
  }

  function uploadListing(query: URLSearchParams): string {
    const prefix = query.get("prefix") ?? "";
    const after = query.get("upload-id-marker");
    const all = [...uploads.keys()].filter((id) => uploadKeys.get(id)?.startsWith(prefix));
    const left = all.slice(after === null ? 0 : all.indexOf(after) + 1);
    const page = left.slice(0, pageSize);
    const items = page.map(
      (id) =>
        `<Upload><Key>${encodeURIComponent(uploadKeys.get(id) ?? "")}</Key><UploadId>${id}</UploadId><Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload>`,
    );
    const last = page.at(-1) ?? "";
    const next = `<NextKeyMarker>${uploadKeys.get(last)}</NextKeyMarker><NextUploadIdMarker>${last}</NextUploadIdMarker>`;
    const isTruncated = left.length > page.length;
    return `<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>${isTruncated ? next : ""}${items.join("")}</ListMultipartUploadsResult>`;
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const served: S3Server = {
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    uploads,
    requests,
    keys,
    faults,
    fault: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return served;
}

function unescaped(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
}

/** Of each body once: reads of a large value in pieces would take minutes. */
const tags = new WeakMap<Buffer, string>();

function tagOf(body: Buffer): string {
  const tag = tags.get(body) ?? `"${createHash("md5").update(body).digest("hex")}"`;
  tags.set(body, tag);
  return tag;
}

function verifyChecksum({ headers, body }: S3Seen): void {
  const stated = headers["x-amz-checksum-crc32"];
  if (stated === undefined) return;
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(body));
  if (crc.toString("base64") !== stated) throw new Refusal(400, "BadDigest");
}

/** Signature version 4 of the request, computed anew. */
function verifySignature(
  { method, headers, query }: S3Seen,
  url: URL,
  { region, keys }: { readonly region: string; readonly keys: ReadonlyMap<string, S3Key> },
): void {
  const [, accessKey, date = "", scope = "", signed = "", signature] =
    /Credential=([^/]+)\/(\d+)\/(.+?), SignedHeaders=(.+?), Signature=(\w+)/.exec(
      headers.authorization ?? "",
    ) ?? [];
  if (accessKey === undefined) throw new Refusal(403, "AccessDenied");
  const known = keys.get(accessKey);
  if (known === undefined) throw new Refusal(403, "InvalidAccessKeyId");
  if (known.isExpired) throw new Refusal(400, "ExpiredToken");
  if (known.token !== headers["x-amz-security-token"]) throw new Refusal(403, "InvalidToken");
  if (scope !== `${region}/s3/aws4_request`) {
    throw new Refusal(400, "AuthorizationHeaderMalformed", { "x-amz-bucket-region": region });
  }
  const quoted = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const path = url.pathname.split("/").map((segment) => quoted(decodeURIComponent(segment)));
  const search = [...query].map(([name, value]) => `${quoted(name)}=${quoted(value)}`).sort();
  const canonical = [
    method,
    path.join("/"),
    search.join("&"),
    ...signed.split(";").map((name) => `${name}:${headers[name]}`),
    "",
    signed,
    headers["x-amz-content-sha256"],
  ].join("\n");
  const text = [
    "AWS4-HMAC-SHA256",
    headers["x-amz-date"],
    `${date}/${scope}`,
    createHash("sha256").update(canonical).digest("hex"),
  ].join("\n");
  const hmac = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
  const key = [date, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${known.secret}`);
  if (hmac(key, text).toString("hex") !== signature) throw new Refusal(403, "SignatureDoesNotMatch");
}
