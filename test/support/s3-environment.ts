import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY, serveBucket } from "../stores/s3-server.ts";

export type { S3Server } from "../stores/s3-server.ts";

/** Runs with a bucket that the environment says how to reach. */
export async function withBucket(run: (server: S3Server, bucket: string) => Promise<void>): Promise<void> {
  const server = await serveBucket();
  const env = { ...process.env };
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: server.endpoint,
    AWS_ACCESS_KEY_ID: ACCESS_KEY,
    AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
  });
  try {
    await run(server, BUCKET);
  } finally {
    process.env = env;
    await server.close();
  }
}
