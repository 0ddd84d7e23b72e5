// @module-tag sampled
// @module-tag slow
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { convert, copy, rechunk, sliceTo } from "../../src/flows/copy.ts";
import type { FlowOptions } from "../../src/flows/request/flow-options.ts";
import type { FlowTarget } from "../../src/flows/target/flow-target.ts";
import type { FlowEvent, RunReport } from "../../src/run/events.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { isReservedKey } from "../../src/stores/reserved-names.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { keysOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { oneIn, someOf } from "../support/samples.ts";

const folder = temporaryFolder();
let source = "";
withoutPauses();
let runs = 0;
let bucket: S3Server;
afterAll(() => bucket.close());
afterAll(() => console.log(`${runs} runs with a flipped bit, each found`));

beforeAll(async () => {
  bucket = await serveReachableBucket();
  source = join(folder.path, "source.zarr");
  const values = (i: number) => i * 2654435761;
  await given({ at: source, shape: [8, 6], chunks: [2, 3], dataType: "int32", zarrFormat: "v2", values });
});

type Flow = (target: FlowTarget, options: FlowOptions) => Promise<RunReport>;

const SERIAL = { threads: 1, concurrency: 1 } as const;
const FLOWS: Readonly<Record<string, Flow>> = {
  copy: (target, options) => copy(source, target, options),
  "copy with another codec": (target, options) => copy(source, target, { codec: "gzip", ...options }),
  "rechunk, direct": (target, options) =>
    rechunk(source, target, { chunks: [4, 2], strategy: "direct", ...options }),
  "rechunk, staged": (target, options) =>
    rechunk(source, target, { chunks: [4, 2], strategy: "staged", ...options }),
  convert: (target, options) => convert(source, target, { to: "v3", ...options }),
  "slice to zarr": (target, options) => sliceTo(source, target, { slice: [[1, 7], null], ...options }),
};

const CHUNK = /(?:^|\/)(?:c\/)?\d+[./]\d+$/;

/** All documents and some of the chunks, other ones each time. */
const drawn = (keys: readonly string[]) => [
  ...keys.filter((key) => !CHUNK.test(key)),
  ...someOf(
    keys.filter((key) => CHUNK.test(key)),
    8,
    runs,
  ),
];

/** Another bit in the midst of a value. */
function flipped(bytes: Uint8Array): Uint8Array {
  const other = bytes.slice();
  const at = other.length >> 1;
  other[at] = (other[at] ?? 0) ^ 4;
  return other;
}

/** A store that holds another bit of one key than it was given. */
class FlippingStore extends MemoryStore {
  readonly #key: string | undefined;

  constructor(key?: string) {
    super();
    this.#key = key;
  }

  override async set(...[key, bytes, ...more]: Parameters<MemoryStore["set"]>): Promise<void> {
    return super.set(key, key === this.#key ? flipped(bytes) : bytes, ...more);
  }
}

const ordinaryKeysOf = async (store: MemoryStore) =>
  (await keysOf(store)).filter((key) => !isReservedKey(key));

/** Files of chunks below a folder, the control folder of a run included. */
function chunkFiles(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => CHUNK.test(name))
    .map((name) => join(root, name))
    .filter((path) => statSync(path).isFile())
    .sort();
}

/** Keys of values in the bucket, or of the entries of the zip there. */
function keysInBucket(inZip: boolean): string[] {
  const keys = [...bucket.objects.keys()].filter((key) => !isReservedKey(key));
  return inZip ? keys.flatMap((key) => entriesOf(bucket.objects.get(key)).map(({ name }) => name)) : keys;
}

function flipInBucket(key: string, inZip: boolean): void {
  const at = inZip ? "out.zarr.zip" : key;
  const bytes = Buffer.from(bucket.objects.get(at) ?? []);
  const { offset, size } = entriesOf(inZip ? bytes : undefined).find(({ name }) => name === key) ?? {
    offset: 0,
    size: bytes.length,
  };
  bytes.set(flipped(bytes.subarray(offset, offset + size)), offset);
  bucket.objects.set(at, bytes);
}

/** Where the data of the entries of a zip lie, by their local headers. */
function entriesOf(zip: Buffer = Buffer.alloc(0)): { name: string; offset: number; size: number }[] {
  const entries: { name: string; offset: number; size: number }[] = [];
  for (let at = 0; at + 30 <= zip.length && zip.readUInt32LE(at) === 0x04034b50; ) {
    const size = zip.readUInt32LE(at + 18);
    const offset = at + 30 + zip.readUInt16LE(at + 26);
    entries.push({ name: zip.toString("utf8", at + 30, offset), offset, size });
    at = offset + size;
  }
  return entries;
}

describe.each(Object.entries(FLOWS))("%s", (name, flow) => {
  describe.each(["written", "values"] as const)("with verify: %s", (verify) => {
    const turn = Object.keys(FLOWS).indexOf(name) + Number(verify === "values");

    test(
      "finds a flipped bit in every key, in a store that is written at its place",
      oneIn(2, turn),
      async () => {
        const whole = new FlippingStore();
        const { keysWritten, keysVerified } = await flow(whole, { ...SERIAL, verify });
        const keys = await ordinaryKeysOf(whole);
        expect([keysWritten, keysVerified]).toEqual([keys.length, keys.length]);
        for (const key of drawn(keys)) {
          const target = new FlippingStore(key);
          await expect(flow(target, { ...SERIAL, verify }), key).rejects.toMatchObject({
            code: "differs",
            details: { key },
          });
          expect(await ordinaryKeysOf(target), key).toEqual([]);
          runs++;
        }
      },
    );

    const names = someOf(["out.zarr", "out.zarr.zip"], 2, turn >> 1);
    test.each(names)("finds one in every value that S3 has of %s", oneIn(2, turn), async (name) => {
      const url = `s3://${BUCKET}/${name}`;
      const isZip = name.endsWith(".zip");
      const report = await flow(url, { ...SERIAL, verify });
      const written = keysInBucket(isZip);
      expect(report.keysVerified).toBe(written.length);
      for (const key of drawn(written)) {
        bucket.objects.clear();
        let isFlipped = false;
        bucket.fault = (_response, { method }) => {
          if (isFlipped || !(method === "GET" || method === "HEAD") || !keysInBucket(isZip).includes(key))
            return false;
          flipInBucket(key, isZip);
          isFlipped = true;
          return false;
        };
        await expect(flow(url, { ...SERIAL, verify }), key).rejects.toMatchObject({
          code: expect.stringMatching(/^(?:differs|corrupt-store)$/),
        });
        bucket.fault = undefined;
        expect(isFlipped, key).toBe(true);
        expect([...bucket.objects.keys()], key).toEqual([]);
        runs++;
      }
      bucket.objects.clear();
    });

    test(
      "finds one in a chunk of a folder, of this run and of the one that it resumes",
      oneIn(2, turn),
      async () => {
        const whole = folder.next("out.zarr");
        const { keysWritten } = await flow(whole, { ...SERIAL, verify, maxMemory: "100kB" });
        for (const isResumed of [false, true]) {
          const target = folder.next("out.zarr");
          const stopping = new AbortController();
          const options = { ...SERIAL, verify, maxMemory: "100kB" } as const;
          if (isResumed) {
            const onEvent = ({ type }: FlowEvent) => {
              if (type === "task-end" || type === "progress") stopping.abort(new Error("enough"));
            };
            await flow(target, { ...options, stop: stopping.signal, onEvent }).catch(() => {});
          }
          const before = isResumed ? chunkFiles(dirname(target)) : [];
          let isFlipped = false;
          const onEvent = () => {
            const [first] = before.length > 0 ? before : chunkFiles(dirname(target));
            if (isFlipped || first === undefined || statSync(first).size === 0) return;
            writeFileSync(first, flipped(readFileSync(first)));
            isFlipped = true;
          };
          await expect(
            flow(target, { ...options, resume: isResumed, stop: new AbortController().signal, onEvent }),
          ).rejects.toMatchObject({ code: "differs" });
          expect(isFlipped).toBe(true);
          expect(existsSync(dirname(target)) ? readdirSync(dirname(target)) : []).toEqual([]);
          runs++;
        }
        const target = folder.next("out.zarr");
        const report = await flow(target, { ...SERIAL, verify, maxMemory: "100kB" });
        expect(report.keysVerified).toBe(keysWritten);
      },
    );
  });
});
