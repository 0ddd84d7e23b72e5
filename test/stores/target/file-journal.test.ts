import { existsSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FileJournal } from "../../../src/stores/target/file-journal.ts";
import { checkedLine } from "../../../src/stores/target/whole-lines.ts";
import { isZarrflowError } from "../../../src/util/errors.ts";
import { all } from "../../support/consume.ts";
import { settled } from "../../support/until.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();

const linesOf = (journal: Pick<FileJournal, "lines">): Promise<string[]> => all(journal.lines());

describe("a journal in a file", () => {
  it("gives what was added, in order", async () => {
    const journal = new FileJournal(join(folder.path, "ledger.jsonl"));
    const expected = Array.from({ length: 5000 }, (_, i) => `line ${i}`);
    for (const line of expected) journal.append(line);
    expect(await linesOf(journal)).toEqual(expected);
    await journal.close();
  });

  it("has no lines where there is no file", async () => {
    expect(await linesOf(new FileJournal(join(folder.path, "none.jsonl")))).toEqual([]);
  });

  it("writes a line a moment after it was added, whether another follows or not", async () => {
    const path = join(folder.path, "soon.jsonl");
    const journal = new FileJournal(path);
    journal.append("first");
    journal.append("second");
    const expected = checkedLine("first") + checkedLine("second");
    while ((await readFile(path, "utf8").catch(() => "")) !== expected) await settled();
    await journal.close();
  });

  it("leaves out a line that was cut, and adds others after it as lines of their own", async () => {
    const path = join(folder.path, "cut.jsonl");
    await writeFile(path, checkedLine("first") + checkedLine("second").slice(0, 4));
    const journal = new FileJournal(path);
    expect(await linesOf(journal)).toEqual(["first"]);
    journal.append("third");
    await journal.close();
    expect(await linesOf(new FileJournal(path))).toEqual(["first", "third"]);
  });

  it("leaves out a line that was changed, or written without its checksum", async () => {
    const path = join(folder.path, "changed.jsonl");
    const lines = ["first", "second", "third"].map(checkedLine);
    await writeFile(path, [lines[0], lines[1]?.replace("s", "z"), "fourth\n", lines[2]].join(""));
    expect(await linesOf(new FileJournal(path))).toEqual(["first", "third"]);
  });

  it("leaves out a line of more than a megabyte without keeping it in memory", async () => {
    const path = join(folder.path, "long.jsonl");
    await writeFile(path, checkedLine("first"));
    for (let i = 0; i < 8; i++) await appendFile(path, new Uint8Array(2 ** 20));
    await appendFile(path, `\n${checkedLine("last")}`);
    expect(await linesOf(new FileJournal(path))).toEqual(["first", "last"]);
  });

  describe.runIf(existsSync("/dev/full"))("on a disk that is full", () => {
    const FULL = { code: "no-space", details: { store: "ledger /dev/full" } };

    it("says so to who adds, reads and closes", async () => {
      const journal = new FileJournal("/dev/full");
      const add = () => {
        for (let i = 0; i < 2; i++) journal.append("line");
      };
      expect(add).toThrow(expect.objectContaining(FULL));
      await expect(journal.close()).rejects.toMatchObject(FULL);
      expect(add).toThrow(expect.objectContaining(FULL));
      await expect(linesOf(journal)).rejects.toMatchObject(FULL);
    });

    it("says so amid many lines", async () => {
      const journal = new FileJournal("/dev/full");
      const addAll = async () => {
        for (let i = 0; i < 100_000; i++) journal.append("line");
      };
      const error = await addAll().catch((reason) => reason);
      expect(isZarrflowError(error, "no-space")).toBe(true);
      await expect(journal.close()).rejects.toMatchObject(FULL);
    });
  });
});
