import type { StoreSpec } from "../store.ts";
import { ServerShare } from "./server-counters.ts";

/** Server of each opened bucket, by the name under which its requests are counted. */
const servers = new Map<string, string>();

/** Records the server of a bucket, which is not in the bucket's spec. */
export function noteBucketServer(bucket: string, server: string): void {
  servers.set(bucket, server);
}

/**
 * Returns the recent seconds from a request to the end of its response; undefined for a server without requests.
 */
export function serverLatency(spec: StoreSpec): number | undefined {
  const server = serverOf(spec);
  const latency = server === undefined ? 0 : ServerShare.of(server).latency;
  return latency > 0 ? latency / 1000 : undefined;
}

function serverOf(spec: StoreSpec): string | undefined {
  if (spec.kind === "zip-value") return serverOf(spec.store);
  if (spec.kind === "http") return new URL(spec.url).origin;
  return spec.kind === "s3" ? servers.get(spec.bucket) : undefined;
}
