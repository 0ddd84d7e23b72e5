import { randomUUID } from "node:crypto";
import { AwsClient } from "aws4fetch";
import { S3Store, type S3StoreOptions } from "../../src/stores/s3.ts";
import { ACCESS_KEY, BUCKET, SECRET_KEY, serveBucket } from "../stores/s3-server.ts";

/** A bucket of one server, empty at first. */
export interface Bucket {
  readonly endpoint: string;
  readonly name: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** A store at a prefix, a new one by default. */
  store(options?: Partial<S3StoreOptions>): S3Store;
  close(): Promise<void>;
}

interface Server {
  readonly name: string;
  openBucket(): Promise<Bucket>;
}

/** Real servers as `NAME=ENDPOINT`, separated by blanks, all with the same credentials; CI insists on them. */
const named = (process.env.ZARRFLOW_S3_SERVERS ?? "").split(" ").filter((name) => name !== "");

for (const required of process.env.REQUIRE_S3 === "1" ? ["versitygw=", "minio="] : []) {
  if (!named.some((server) => server.startsWith(required))) {
    throw new Error(`REQUIRE_S3 is set, but ZARRFLOW_S3_SERVERS has no ${required}ENDPOINT`);
  }
}

/** The real servers; where there are none, the one of `test/stores`, in this process. */
export const servers: readonly Server[] =
  named.length === 0
    ? [{ name: "in this process", openBucket: openBucketInProcess }]
    : named.map((server) => {
        const [name = "", endpoint = ""] = server.split("=");
        return { name, openBucket: () => makeBucket(endpoint) };
      });

/** Name of the check that uploads are listed. */
export const LISTS_UPLOADS = "uploads that were begun are listed until they end";

/** Names of checks that a server fails by a fault of its own. */
export const FAULTS: Readonly<Record<string, readonly string[]>> = {
  // A folder that becomes empty is there for a moment as an object in the way. A HEAD of a key that nobody has is 404.
  versitygw: ["concurrent deletes and sets in one folder", "size with a key that nobody has"],
  // It lists uploads of one key alone, not those below a prefix. A write beside a deletion that empties the folder may be
  // answered with 403 (minio/minio#15157).
  minio: [LISTS_UPLOADS, "concurrent deletes and sets in one folder"],
};

/** Whether a server passes a check of this name. */
export function canPass(server: string, name: string): boolean {
  return !FAULTS[server]?.includes(name);
}

/** What the environment says to reach a server, also for Python and for the command. */
export function environmentOf({ endpoint, credentials }: Bucket): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_REGION: "us-east-1",
  };
}

/** A bucket at an endpoint: the server's own, or one in front of it. */
export function bucketAt(
  endpoint: string,
  { name, credentials, close }: Omit<Bucket, "endpoint" | "store">,
): Bucket {
  const store = (options: Partial<S3StoreOptions> = {}) =>
    new S3Store({ bucket: name, endpoint, credentials, prefix: randomUUID(), ...options });
  return { endpoint, name, credentials, store, close };
}

async function makeBucket(endpoint: string): Promise<Bucket> {
  const credentials = { accessKeyId: "testkey", secretAccessKey: "testsecret123" };
  const name = `zarrflow-${randomUUID().slice(0, 8)}`;
  const client = new AwsClient({ ...credentials, service: "s3", region: "us-east-1" });
  const { status } = await client.fetch(`${endpoint}/${name}`, { method: "PUT" });
  if (status !== 200) throw new Error(`no bucket can be made at ${endpoint}: ${status}`);
  return bucketAt(endpoint, { name, credentials, close: async () => {} });
}

async function openBucketInProcess(): Promise<Bucket> {
  const { endpoint, close } = await serveBucket();
  const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
  return bucketAt(endpoint, { name: BUCKET, credentials, close });
}
