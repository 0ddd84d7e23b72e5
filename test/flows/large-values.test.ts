// @module-tag slow

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { copy } from "../../src/flows/copy.ts";
import * as pieces from "../../src/plan/memory.ts";
import type { RunReport } from "../../src/run/events.ts";
import { BUCKET, type S3Seen, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { withParts } from "../support/small-parts.ts";
import { until } from "../support/until.ts";

const folder = temporaryFolder();
const KEY = "notes/large.bin";
/** Bytes of a part that is sent, and of a piece that is read: in place of 8 MiB. */
const PART = 512 * 1024;
/** Of six parts. */
const LARGE = Buffer.alloc(
  5.6 * PART,
  Uint8Array.from({ length: 8191 }, (_, i) => (i * i) >> 3),
);

let bucket: S3Server;

withoutPauses();
withParts(PART);
beforeEach(async () => {
  bucket = await serveReachableBucket({ leastPart: PART });
  const { pieceBytesWithin } = pieces;
  const spy = vi.spyOn(pieces, "pieceBytesWithin");
  spy.mockImplementation((maxMemory) => Math.min(PART, pieceBytesWithin(maxMemory)));
  return () => spy.mockRestore();
});
afterEach(() => bucket.close());

/** Answers requests of a kind when `expected` different ones of them are there. */
function gather(isMeant: (request: S3Seen) => boolean, expected: number): void {
  const asked = new Set<unknown>();
  bucket.fault = async (_, request) => {
    if (!isMeant(request)) return false;
    asked.add(request.query.get("partNumber") ?? request.headers.range);
    await until(() => asked.size >= expected);
    return false;
  };
}

const isPart = ({ method, query }: S3Seen) => method === "PUT" && query.has("partNumber");
const isRange = ({ method, key, headers }: S3Seen) =>
  method === "GET" && key.endsWith(KEY) && headers.range !== undefined;

function makeSource(): string {
  const source = folder.next("source.zarr");
  mkdirSync(join(source, "notes"), { recursive: true });
  writeFileSync(join(source, ".zgroup"), '{"zarr_format":2}');
  writeFileSync(join(source, KEY), LARGE);
  return source;
}

const answer = (response: ServerResponse, status: number, code: string) => {
  response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
  return true;
};

async function up(options = {}): Promise<RunReport> {
  return copy(makeSource(), `s3://${BUCKET}/up.zarr`, options);
}
const expectSent = () => expect(bucket.objects.get(`up.zarr/${KEY}`)?.equals(LARGE)).toBe(true);

async function down(options = {}): Promise<string> {
  bucket.objects.set("down.zarr/.zgroup", Buffer.from('{"zarr_format":2}'));
  bucket.objects.set(`down.zarr/${KEY}`, LARGE);
  const target = folder.next("down.zarr");
  await copy(`s3://${BUCKET}/down.zarr`, target, options);
  return target;
}
const expectRead = (target: string) => expect(readFileSync(join(target, KEY)).equals(LARGE)).toBe(true);

describe("a value of many parts", () => {
  it("is sent to S3, and read from it, in several at one time, in any order", async () => {
    gather(isPart, 4);
    expect((await up()).peakBuffers).toBeLessThan(256e6);
    expectSent();
    gather(isRange, 4);
    expectRead(await down());
  });

  it("is asked for in several parts before any is answered, which must be of one version", async () => {
    for (const isReplaced of [false, true]) {
      bucket.requests.length = 0;
      const asked = new Set<unknown>();
      let isFirstSent = false;
      bucket.fault = async (response, request) => {
        if (!isRange(request)) return false;
        asked.add(request.headers.range);
        const isFirst = asked.size === 1;
        response.on("finish", () => {
          isFirstSent = true;
        });
        await until(() => asked.size === 6);
        if (!isFirst && isReplaced) {
          await until(() => isFirstSent);
          bucket.objects.set(request.key, Buffer.alloc(LARGE.length, 1));
        }
        return false;
      };
      const copied = down();
      if (isReplaced) await expect(copied).rejects.toMatchObject({ code: "source-changed" });
      else expectRead(await copied);
      expect(asked.size).toBe(6);
      for (const { headers } of bucket.requests.filter(isRange)) expect(headers["if-match"]).toBe(undefined);
    }
  });

  it("is copied in one at a time where the budget has no room for more", async () => {
    let open = 0;
    let most = 0;
    bucket.fault = async (_, request) => {
      if (!isPart(request) && !isRange(request)) return false;
      most = Math.max(most, ++open);
      await pause(20); // in which another one could come
      open--;
      return false;
    };
    await up({ maxMemory: "1.1MB" });
    expectRead(await down({ maxMemory: "600kB" }));
    expectSent();
    expect(most).toBe(1);
  });

  it("has a part that fails sent again, alone", async () => {
    let failures = 0;
    bucket.fault = (response, request) => {
      if (!isPart(request) || request.query.get("partNumber") !== "2" || failures++ > 1) return false;
      return answer(response, 503, "SlowDown");
    };
    await up();
    expectSent();
    const numbers = bucket.requests.filter(isPart).map(({ query }) => Number(query.get("partNumber")));
    expect(numbers.sort()).toEqual([1, 2, 2, 2, 3, 4, 5, 6]);
  });

  it("leaves nothing when a part is refused, or the run is aborted", async () => {
    const abort = new AbortController();
    for (const end of ["refused", "aborted"]) {
      bucket.fault = async (response, request) => {
        if (!isPart(request) || request.query.get("partNumber") !== "3") return false;
        if (end === "aborted") {
          abort.abort(new Error("enough"));
          return false; // what was sent is answered all the same
        }
        return answer(response, 403, "AccessDenied");
      };
      const code = end === "aborted" ? "aborted" : "access-denied";
      await expect(up({ signal: abort.signal })).rejects.toMatchObject({ code });
      expect([...bucket.objects.keys()]).toEqual([]);
      expect(bucket.uploads.size).toBe(0);
    }
  });

  it("is of one version, or is not copied", async () => {
    let seen = 0;
    bucket.fault = (_, request) => {
      if (isRange(request) && ++seen === 3) bucket.objects.set(request.key, Buffer.alloc(LARGE.length, 1));
      return false;
    };
    await expect(down()).rejects.toMatchObject({ code: "source-changed", details: { key: KEY } });
    expect(existsSync(folder.next("down.zarr"))).toBe(false);
  });

  it("is verified", async () => {
    expect((await up({ verify: true })).keysVerified).toBe(2);
  });
});
