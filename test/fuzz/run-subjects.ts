import {
  doneBefore,
  LEDGER_FORMAT,
  ledgerLine,
  parseLedgerLine,
  unfinishedRun,
} from "../../src/run/ledger.ts";
import { parseStoreUrl } from "../../src/stores/url.ts";
import { checkedLine, wholeLines } from "../../src/targets/journal.ts";
import { storedEntries } from "../../src/targets/zip-file.ts";
import { crc32 } from "../../src/util/crc32.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { BytesReader } from "../stores/bytes-reader.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { Fault, type Seed, type Subject } from "./subject.ts";

const TASKS = 20;

/** What a run reads that is no data: what an unfinished run has left, and URLs. */
export function runSubjects(): readonly Subject[] {
  return [
    { name: "ledger", codes: [], seeds: async () => ledgerSeeds() },
    { name: "unfinished zip", codes: [], seeds: async () => zipSeeds() },
    {
      name: "url",
      codes: ["invalid-option", "unsupported-operation", "path-not-allowed", "invalid-node-name"],
      seeds: async () => urlSeeds(),
    },
  ];
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

/** A changed ledger says of no task that it is done whose values are not all held. */
function ledgerSeeds(): Seed[] {
  const places = { source: "a", target: "b", arrays: "c" };
  const identity = { ...places, documents: "d", options: "e", sourceDocuments: "f" };
  const begin = [
    ledgerLine({ format: LEDGER_FORMAT, begun: "2026-11-23T00:00:00Z", identity }),
    ledgerLine({ session: { at: "2026-11-23T00:00:00Z", boot: "x", fsync: false } }),
  ];
  const tasks = Array.from({ length: 6 }, (_, end) => [
    ledgerLine({ task: end, key: `a/${end}.0`, size: 10 * end, crc32: 7 * end }),
    ledgerLine({ task: end, key: `a/${end}.1`, size: 10 * end, crc32: 9 * end }),
    ledgerLine({ end, keys: 2 }),
  ]).flat();
  const others = [
    ledgerLine({ scratch: { kind: "directory", path: "/tmp/s" } }),
    ledgerLine({ key: "b", size: 3 }),
  ];
  return [begin, [...begin, ...tasks], [...begin, ...others, ...tasks]].map((lines) => ({
    frame: bytesOf(lines.join("\n")),
    size: 0,
    async decode(source) {
      const lines = Buffer.from(source).toString("latin1").split("\n");
      const checked = bytesOf(lines.map(checkedLine).join(""));
      const journal = { boot: "x", lines: () => wholeLines([checked]) };
      await unfinishedRun(journal, "a ledger").catch((error) => {
        if (!isZarrflowError(error, "plan-mismatch")) throw error;
      });
      const hasValue = async ({ key }: { readonly key: string }) => key === "b";
      const done = await doneBefore(journal, { tasks: TASKS, hasValue, concurrency: 4 });
      const withoutValues = new Set<number>();
      for await (const text of journal.lines()) {
        const line = parseLedgerLine(text);
        if (line && "end" in line && line.keys === 0) withoutValues.add(line.end);
      }
      for (let task = 0; task < TASKS; task++) {
        if (done.tasks.has(task) && !withoutValues.has(task)) throw new Fault(`task ${task} counts as done`);
      }
      if (done.tasks.size > TASKS) throw new Fault("more tasks count as done than there are");
      return 0;
    },
  }));
}

/** What counts as an entry of a changed zip has the bytes that its checksum says. */
function zipSeeds(): Seed[] {
  const value = bytesOf("a value of a chunk, ".repeat(9));
  const entries = [
    { name: ".zgroup", value: bytesOf('{"zarr_format": 2}') },
    { name: "a/0.0", value },
    { name: "a/0.1", value },
  ];
  return [buildZip(entries), buildZip([])].map((frame) => ({
    frame,
    size: 0,
    async decode(source) {
      let end = 0;
      for await (const { name, offset, size, crc32: expected } of storedEntries(
        new BytesReader(source),
        true,
      )) {
        if (offset !== end) throw new Fault("an entry does not follow the one before");
        const data = offset + 30 + name.length;
        end = data + size;
        if (crc32(source.subarray(data, end)) !== expected) throw new Fault("an entry has other bytes");
      }
      return 0;
    },
  }));
}

/** A URL is a place, or is refused; no part of a place leads out of it. */
function urlSeeds(): Seed[] {
  const urls = [
    "era5.zarr",
    "/data/era5.zarr/t2m",
    "file:///data/a%20b.zarr|zarr3:t2m",
    "s3://bucket/prefix/a.zarr.zip/t2m",
    "https://example.com:8080/a%20b.zarr/t2m",
    "memory:name/a/b",
    "s3://bucket/a.zip|zip:inner.zarr|zarr2:",
    "../a/./b//c.zarr",
  ];
  return urls.map((url) => ({
    frame: bytesOf(url),
    size: 0,
    decode(source) {
      const { path } = parseStoreUrl(Buffer.from(source).toString());
      if (path.split("/").includes("..")) throw new Fault("the path leads out of its store");
      return 0;
    },
  }));
}
