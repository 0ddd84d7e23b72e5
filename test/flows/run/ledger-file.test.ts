import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FileLedger } from "../../../src/flows/run/ledger-file.node.ts";
import { isZarrflowError } from "../../../src/util/errors.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";

const folder = temporaryFolder();
const ENTRY = { task: 0, key: "c/0", size: 1, crc32: 1 };

describe("a ledger", () => {
  it("gives what was recorded, in order", async () => {
    const ledger = new FileLedger(join(folder.path, "ledger.jsonl"));
    for (let task = 0; task < 1000; task++) ledger.record({ ...ENTRY, task });
    const tasks: (number | undefined)[] = [];
    for await (const { task } of ledger.entries()) tasks.push(task);
    expect(tasks).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    await ledger.close();
  });

  describe.runIf(existsSync("/dev/full"))("on a disk that is full", () => {
    const FULL = { code: "no-space", details: { store: "ledger /dev/full" } };

    it("says so when it is read back", async () => {
      const ledger = new FileLedger("/dev/full");
      ledger.record(ENTRY);
      await expect(ledger.entries()[Symbol.asyncIterator]().next()).rejects.toMatchObject(FULL);
      await expect(ledger.close()).rejects.toMatchObject(FULL);
    });

    it("says so when it is closed, and to those who record", async () => {
      const ledger = new FileLedger("/dev/full");
      ledger.record(ENTRY);
      await expect(ledger.close()).rejects.toMatchObject(FULL);
      expect(() => ledger.record(ENTRY)).toThrow(expect.objectContaining(FULL));
      await expect(ledger.entries()[Symbol.asyncIterator]().next()).rejects.toMatchObject(FULL);
    });

    it("says so amid many records", async () => {
      const ledger = new FileLedger("/dev/full");
      const recordAll = async () => {
        for (let i = 0; i < 100_000; i++) {
          ledger.record(ENTRY);
          if (i % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const error = await recordAll().catch((reason) => reason);
      expect(isZarrflowError(error, "no-space")).toBe(true);
      await expect(ledger.close()).rejects.toMatchObject(FULL);
    });
  });
});
