import type { StoreSpec } from "../store.ts";
import { ServerShare } from "./server-counters.ts";

/** The server of each bucket that was opened, by the name under which its requests are counted. */
const servers = new Map<string, string>();

/** Says which server has a bucket: its spec does not. */
export function noteBucketServer(bucket: string, server: string): void {
  servers.set(bucket, server);
}

/** Seconds from a request to the end of its answer, as the latest ones took; undefined where the server was not asked. */
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
