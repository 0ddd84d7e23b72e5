import { createHash, createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32 } from "../../src/util/crc32.ts";
import { compareUtf8 } from "../../src/util/utf8-order.ts";

export const ACCESS_KEY = "testkey";
export const SECRET_KEY = "testsecret123";
export const BUCKET = "bucket";

/** A request as it came. */
export interface S3Seen {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Answers a request in place of the server, or leaves it to it. */
export type S3Fault = (response: ServerResponse, request: S3Seen) => boolean;

/** One bucket in memory behind the S3 protocol on 127.0.0.1; signatures and checksums are verified. */
export interface S3Server {
  readonly endpoint: string;
  readonly objects: Map<string, Buffer>;
  /** Uploads that were begun and not ended, by id. */
  readonly uploads: Map<string, Map<number, Buffer>>;
  readonly requests: S3Seen[];
  /** Taken one for each request, until there are no more. */
  readonly faults: S3Fault[];
  close(): Promise<void>;
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
} = {}): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const requests: S3Seen[] = [];
  const faults: S3Fault[] = [];
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece);
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
    if (faults.shift()?.(response, request)) return;
    try {
      if (!open) verifySignature(request, url, region);
      if (bucket !== BUCKET) throw new Refusal(404, "NoSuchBucket");
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
    if (key === "" && method === "GET") response.end(listing(query));
    else if (key === "" && method === "HEAD") response.end();
    else if (method === "GET" || method === "HEAD") read(response, request);
    else if (method === "POST" && query.has("uploads")) {
      const id = randomUUID();
      uploads.set(id, new Map());
      response.end(
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    } else if (upload !== null) endOrPart(response, request, upload);
    else if (method === "PUT") {
      objects.set(key, body);
      response.writeHead(200, { etag: tagOf(body) }).end();
    } else {
      objects.delete(key);
      response.writeHead(204).end();
    }
  }

  function endOrPart(response: ServerResponse, { method, key, query, body }: S3Seen, id: string): void {
    const parts = uploads.get(id);
    if (parts === undefined) throw new Refusal(404, "NoSuchUpload");
    if (method === "PUT") {
      parts.set(Number(query.get("partNumber")), body);
      response.writeHead(200, { etag: tagOf(body) }).end();
      return;
    }
    uploads.delete(id);
    if (method === "DELETE") {
      response.writeHead(204).end();
      return;
    }
    const named = [...body.toString().matchAll(/<ETag>(.*?)<\/ETag><PartNumber>(\d+)</g)];
    const joined = named.map(([, tag = "", number]) => {
      const part = parts.get(Number(number));
      const plainTag = tag.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
      if (part === undefined || tagOf(part) !== plainTag) throw new Refusal(400, "InvalidPart");
      return part;
    });
    if (joined.slice(0, -1).some((part) => part.length < 5 * 2 ** 20))
      throw new Refusal(400, "EntityTooSmall");
    objects.set(key, Buffer.concat(joined));
    response.end("<CompleteMultipartUploadResult/>");
  }

  function read(response: ServerResponse, { method, key, headers }: S3Seen): void {
    const value = objects.get(key);
    if (value === undefined) throw new Refusal(404, "NoSuchKey");
    const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? "") ?? [];
    if (first === "" && last === "") {
      response.writeHead(200, { "content-length": value.length }).end(method === "HEAD" ? undefined : value);
      return;
    }
    const start = first === "" ? Math.max(0, value.length - Number(last)) : Number(first);
    const end = first === "" || last === "" ? value.length : Math.min(Number(last) + 1, value.length);
    if (start >= value.length) throw new Refusal(416, "InvalidRange");
    response
      .writeHead(206, {
        "content-length": end - start,
        "content-range": `bytes ${start}-${end - 1}/${value.length}`,
      })
      .end(value.subarray(start, end));
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
        : `<Contents><Key>${encoded(name)}</Key><Size>${size}</Size></Contents>`,
    );
    const next = isTruncated ? `<NextContinuationToken>${page.at(-1)?.[0]}</NextContinuationToken>` : "";
    return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${items.join("")}</ListBucketResult>`;
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    uploads,
    requests,
    faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function tagOf(body: Buffer): string {
  return `"${createHash("md5").update(body).digest("hex")}"`;
}

function verifyChecksum({ headers, body }: S3Seen): void {
  const stated = headers["x-amz-checksum-crc32"];
  if (stated === undefined) return;
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(body));
  if (crc.toString("base64") !== stated) throw new Refusal(400, "BadDigest");
}

/** Signature version 4 of the request, computed anew. */
function verifySignature({ method, headers, query }: S3Seen, url: URL, region: string): void {
  const [, accessKey, date = "", scope = "", signed = "", signature] =
    /Credential=([^/]+)\/(\d+)\/(.+?), SignedHeaders=(.+?), Signature=(\w+)/.exec(
      headers.authorization ?? "",
    ) ?? [];
  if (accessKey === undefined) throw new Refusal(403, "AccessDenied");
  if (accessKey !== ACCESS_KEY) throw new Refusal(403, "InvalidAccessKeyId");
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
  const key = [date, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${SECRET_KEY}`);
  if (hmac(key, text).toString("hex") !== signature) throw new Refusal(403, "SignatureDoesNotMatch");
}
