import { vi } from "vitest";
import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY, serveBucket } from "../stores/s3-server.ts";

export type { S3Server } from "../stores/s3-server.ts";

/** What the environment says to reach a bucket, whatever the machine's own files say. */
export function s3Environment(endpoint: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: ACCESS_KEY,
    AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
  };
}

/** Changes variables of the environment, `undefined` takes one away, until `vi.unstubAllEnvs`. */
export function stubEnvironment(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

/** Serves a bucket that the environment says how to reach; closing it takes back all stubs of the environment. */
export async function serveReachableBucket(...options: Parameters<typeof serveBucket>): Promise<S3Server> {
  const server = await serveBucket(...options);
  stubEnvironment(s3Environment(server.endpoint));
  const { close } = server;
  return Object.assign(server, {
    async close() {
      vi.unstubAllEnvs();
      await close();
    },
  });
}

/** Runs with a bucket that the environment says how to reach. */
export async function withBucket(run: (server: S3Server, bucket: string) => Promise<void>): Promise<void> {
  const server = await serveReachableBucket();
  try {
    await run(server, BUCKET);
  } finally {
    await server.close();
  }
}
