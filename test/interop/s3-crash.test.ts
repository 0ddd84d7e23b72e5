// @module-tag long
// @module-tag alone
import "../faults/crash/mocked-calls.ts";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CONSOLIDATED_LOCK_NAME } from "../../src/stores/reserved-names.ts";
import { type Case, casesAt, formatsOf, IS_LONG } from "../faults/crash/cases.ts";
import { CurrentCut } from "../faults/crash/cut.ts";
import { cutEverywhere } from "../faults/crash/every-cut.ts";
import { newFolder, type Place } from "../faults/crash/places.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { type FaultProxy, proxyTo } from "./fault-proxy.ts";
import { type Bucket, bucketAt, environmentOf, servers } from "./s3-servers.ts";

/** Prefixes of a bucket, a new one at each reset, that targets are written to through a proxy at `endpoint`. */
async function proxiedPlace(bucket: Bucket): Promise<Place & Pick<FaultProxy, "endpoint" | "close">> {
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

/** Cuts of each kind in the short form, of some cases. */
const CUTS_IN_SHORT = 2;
const short: readonly Case[] = [
  { place: "s3", operation: "copy", mode: "update" },
  { place: "s3", operation: "direct", mode: "member" },
  { place: "s3", operation: "staged", mode: "replace" },
  { place: "s3", operation: "convert", mode: "skip" },
  { place: "s3", operation: "copy", mode: "new member" },
];

describe.each(servers)("a run that is cut as it writes to $name", ({ name, openBucket }) => {
  const scratch = newFolder();
  const counts = { cuts: 0, wrong: 0 };
  let place: Place;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const bucket = await openBucket();
    const proxied = await proxiedPlace(bucket);
    stubEnvironment(environmentOf(bucketAt(proxied.endpoint, bucket)));
    place = proxied;
    close = async () => {
      await proxied.close();
      await bucket.close();
    };
  });
  afterAll(async () => {
    await close();
    vi.unstubAllEnvs();
    rmSync(scratch, { recursive: true, force: true });
    console.log(`${name}: ${counts.cuts} cuts, ${counts.wrong} of them followed by a wrong value`);
  });

  describe.each(IS_LONG ? casesAt("s3") : short)("a $operation ($mode)", (one) => {
    test.each(formatsOf(one))(
      "of %s shows no wrong value, wherever it is cut",
      async (zarrFormat) => {
        const cutsOfKind = IS_LONG ? undefined : CUTS_IN_SHORT;
        const found = await cutEverywhere(place, { ...one, zarrFormat }, { scratch, cutsOfKind });
        counts.cuts += found.cuts;
        counts.wrong += found.wrongCuts;
        expect(found.calls).toBeGreaterThan(0);
        expect(found.wrong).toEqual([]);
      },
      1_200_000,
    );
  });
});
