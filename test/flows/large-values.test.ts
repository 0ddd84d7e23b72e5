// @module-tag slow
import { EventEmitter, once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { copy } from "../../src/flows/copy.ts";
import type { FlowEvent, RunReport } from "../../src/flows/events.ts";
import * as pieces from "../../src/flows/keys/read-pieces.ts";
import { BUCKET, type S3Seen, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { withParts } from "../support/small-parts.ts";

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
  const events = new EventEmitter();
  const all = once(events, "all");
  const asked = new Set<unknown>();
  bucket.fault = async (_, request) => {
    if (!isMeant(request)) return false;
    asked.add(request.query.get("partNumber") ?? request.headers.range);
    if (asked.size === expected) events.emit("all");
    await all;
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

const up = (options = {}): Promise<RunReport> => copy(makeSource(), `s3://${BUCKET}/up.zarr`, options);

async function down(options = {}): Promise<string> {
  bucket.objects.set("down.zarr/.zgroup", Buffer.from('{"zarr_format":2}'));
  bucket.objects.set(`down.zarr/${KEY}`, LARGE);
  const target = folder.next("down.zarr");
  await copy(`s3://${BUCKET}/down.zarr`, target, options);
  return target;
}

const isWhole = (bytes: Buffer | undefined) => bytes?.equals(LARGE);

describe("a value of many parts", () => {
  it("is sent to S3 in several at one time, in any order", async () => {
    gather(isPart, 4);
    const { peakBuffers } = await up();
    expect(isWhole(bucket.objects.get(`up.zarr/${KEY}`))).toBe(true);
    expect(peakBuffers).toBeLessThan(256e6);
  });

  it("is read from S3 in several at one time", async () => {
    gather(isRange, 4);
    const target = await down();
    expect(isWhole(readFileSync(join(target, KEY)))).toBe(true);
  });

  it("is asked for in several parts before any is answered, which must be of one version", async () => {
    const isReplaced = (run: number) => run === 1;
    for (const run of [0, 1]) {
      bucket.requests.length = 0;
      const events = new EventEmitter();
      const all = once(events, "all");
      const first = once(events, "first");
      const asked = new Set<unknown>();
      bucket.fault = async (response, request) => {
        if (!isRange(request)) return false;
        asked.add(request.headers.range);
        const isFirst = asked.size === 1;
        if (asked.size === 6) events.emit("all");
        if (isFirst) response.on("finish", () => events.emit("first"));
        await all;
        if (!isFirst && isReplaced(run)) {
          await first;
          bucket.objects.set(request.key, Buffer.alloc(LARGE.length, 1));
        }
        return false;
      };
      const copied = down();
      if (isReplaced(run)) await expect(copied).rejects.toMatchObject({ code: "source-changed" });
      else expect(isWhole(readFileSync(join(await copied, KEY)))).toBe(true);
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
    const target = await down({ maxMemory: "600kB" });
    expect(most).toBe(1);
    expect(isWhole(bucket.objects.get(`up.zarr/${KEY}`))).toBe(true);
    expect(isWhole(readFileSync(join(target, KEY)))).toBe(true);
  });

  it("has a part that fails sent again, alone", async () => {
    let failures = 0;
    bucket.fault = (response, request) => {
      if (!isPart(request) || request.query.get("partNumber") !== "2" || failures++ > 1) return false;
      response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
      return true;
    };
    await up();
    expect(isWhole(bucket.objects.get(`up.zarr/${KEY}`))).toBe(true);
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
        response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
        return true;
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

  it("is verified, and found again", async () => {
    const events: FlowEvent[] = [];
    const { keysVerified } = await up({ verify: true, onEvent: (event: FlowEvent) => events.push(event) });
    expect(keysVerified).toBe(2);
    expect(events.at(-1)).toMatchObject({ type: "done" });
  });
});
