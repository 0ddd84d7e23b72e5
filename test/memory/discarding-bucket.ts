import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { s3Environment } from "../support/s3-environment.ts";

/** A server that takes everything into a bucket, and keeps only locks and ledgers, and how many bytes came. */
export interface DiscardingBucket {
  /** Variables that tell a process how to reach it. */
  readonly env: Readonly<Record<string, string>>;
  readonly received: () => number;
  close(): Promise<void>;
}

export async function discardingBucket(): Promise<DiscardingBucket> {
  let received = 0;
  const kept = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://host");
    const isBucket = /^\/[^/]*\/?$/.test(pathname);
    const found = kept.get(pathname);
    const isKept = pathname.includes(".zarrflow-");
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of request) {
      bytes += piece.length;
      if (isKept) pieces.push(piece);
    }
    if (isKept && request.method === "DELETE") {
      kept.delete(pathname);
      response.writeHead(204).end();
    } else if (isKept && request.method === "PUT") {
      const isRefused = found !== undefined && request.headers["if-none-match"] === "*";
      if (!isRefused) kept.set(pathname, Buffer.concat(pieces));
      response.writeHead(isRefused ? 412 : 200).end();
    } else if (found) response.end(request.method === "HEAD" ? undefined : found);
    else if (request.method === "HEAD") response.writeHead(isBucket ? 200 : 404).end();
    else if (request.method === "GET" && !isBucket) {
      response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
    } else if (request.method === "GET") {
      response.end("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
    } else if (request.method === "POST") {
      response.end(
        searchParams.has("uploads")
          ? "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>"
          : "<CompleteMultipartUploadResult/>",
      );
    } else {
      received += bytes;
      response.writeHead(200, { etag: '"0"' }).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    env: s3Environment(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    received: () => received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
