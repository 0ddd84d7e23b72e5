import type { OptionNames } from "../util/check-options.ts";
import { keepRequestHook, type RequestHook, withRequestHook } from "./remote/request-hook.ts";
import type { StoreSpec } from "./store.ts";

/** How a store that others keep is read. */
export interface StoreAccess {
  /**
   * Whether requests to S3 are not signed, as public data need none; in spite of credentials that are there.
   *
   * @default false
   */
  readonly anonymous?: boolean | undefined;
  /**
   * Takes 403 for a missing key, as servers and buckets answer that do not show strangers what exists.
   *
   * @default false
   */
  readonly missing403?: boolean | undefined;
  /**
   * Called before each request to a web server or a bucket, also one that is made again; the request is made when it
   * resolves.
   *
   * @default undefined, nothing is waited for
   */
  readonly beforeRequest?: RequestHook | undefined;
}

export const STORE_ACCESS: OptionNames<StoreAccess> = {
  anonymous: true,
  missing403: true,
  beforeRequest: true,
};

/** The spec of a store that is read so. */
export function accessedBy(spec: StoreSpec, access: StoreAccess): StoreSpec {
  const { anonymous, missing403, beforeRequest } = access;
  if (spec.kind === "zip-value") return { ...spec, store: accessedBy(spec.store, access) };
  if (spec.kind !== "http" && spec.kind !== "s3") return spec;
  const accessed = {
    ...spec,
    ...(spec.kind === "s3" && anonymous && { anonymous }),
    ...(missing403 && { missing403 }),
  };
  return beforeRequest ? withRequestHook(accessed, beforeRequest) : keepRequestHook(spec, accessed);
}
