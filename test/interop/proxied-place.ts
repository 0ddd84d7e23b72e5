import { randomUUID } from "node:crypto";
import { CONSOLIDATED_LOCK_NAME } from "../../src/stores/reserved-names.ts";
import { CurrentCut } from "../faults/crash/cut.ts";
import type { Place } from "../faults/crash/places.ts";
import { type FaultProxy, proxyTo } from "./fault-proxy.ts";
import type { Bucket } from "./s3-servers.ts";

/** Prefixes of a bucket, a new one at each reset, that targets are written to through a proxy at `endpoint`. */
export async function proxiedPlace(bucket: Bucket): Promise<Place & Pick<FaultProxy, "endpoint" | "close">> {
  const cut = new CurrentCut();
  let prefix = "";
  const { endpoint, close } = await proxyTo(bucket.endpoint, ({ method }) => {
    const isMutating = ["PUT", "DELETE", "POST"].includes(method);
    const isCut = isMutating ? cut.now?.mutate() : cut.now?.isOver;
    return isCut ? "403" : undefined;
  });
  const store = () => bucket.store({ prefix });
  return {
    endpoint,
    close,
    targetAt: (path) => `s3://${bucket.name}/${prefix}${path === "" ? "" : `/${path}`}`,
    async reset(contents) {
      prefix = `${randomUUID()}/h.zarr`;
      for await (const { key } of contents?.list("") ?? []) {
        await store().set(key, (await contents?.get(key)) ?? new Uint8Array());
      }
    },
    during: (now, run) => cut.during(now, run),
    outlastTurns: () => store().delete(CONSOLIDATED_LOCK_NAME),
    open: async () => store(),
  };
}
