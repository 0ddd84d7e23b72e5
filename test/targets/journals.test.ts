import { existsSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MemoryStore } from "../../src/stores/memory.ts";
import { type StoreRequest, withRequestLog } from "../../src/stores/with/request-log.ts";
import { deleteAll } from "../../src/targets/contents.ts";
import { FileJournal } from "../../src/targets/file-journal.ts";
import { checkedLine, wholeLines } from "../../src/targets/journal.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all, drain } from "../support/consume.ts";
import { settled } from "../support/until.ts";

const folder = temporaryFolder();

describe("a journal in a file", () => {
  let names = 0;
  const newPath = () => join(folder.path, `${names++}.jsonl`);
  const linesOf = (path: string): Promise<string[]> => all(new FileJournal(path).lines());

  it("gives what was added, in order; nothing where there is no file", async () => {
    const path = newPath();
    const journal = new FileJournal(path);
    const expected = Array.from({ length: 5000 }, (_, i) => `line ${i}`);
    for (const line of expected) journal.append(line);
    expect(await all(journal.lines())).toEqual(expected);
    await journal.close();
    expect(await linesOf(path)).toEqual(expected);
    expect(await linesOf(newPath())).toEqual([]);
  });

  it("writes a line a moment after it was added, whether another follows or not", async () => {
    const path = newPath();
    const journal = new FileJournal(path);
    for (const line of ["first", "second"]) journal.append(line);
    const expected = checkedLine("first") + checkedLine("second");
    while ((await readFile(path, "utf8").catch(() => "")) !== expected) await settled();
    await journal.close();
  });

  it("leaves out a line that was cut, and adds others after it as lines of their own", async () => {
    const path = newPath();
    await writeFile(path, checkedLine("first") + checkedLine("second").slice(0, 4));
    const journal = new FileJournal(path);
    expect(await all(journal.lines())).toEqual(["first"]);
    journal.append("third");
    await journal.close();
    expect(await linesOf(path)).toEqual(["first", "third"]);
  });

  it("leaves out a line that was changed, or has no checksum, or is over a megabyte", async () => {
    const path = newPath();
    const changed = checkedLine("second").replace("s", "z");
    await writeFile(path, `${checkedLine("first")}${changed}fourth\n`);
    for (let i = 0; i < 8; i++) await appendFile(path, new Uint8Array(2 ** 20));
    await appendFile(path, `\n${checkedLine("last")}`);
    expect(await linesOf(path)).toEqual(["first", "last"]);
  });

  it.runIf(existsSync("/dev/full")).each([2, 100_000])(
    "on a disk that is full says so to who adds %i lines, reads and closes",
    async (count) => {
      const full = { code: "no-space", details: { store: "ledger /dev/full" } };
      const journal = new FileJournal("/dev/full");
      const add = () => {
        for (let i = 0; i < count; i++) journal.append("line");
      };
      expect(add).toThrow(expect.objectContaining(full));
      await expect(journal.close()).rejects.toMatchObject(full);
      expect(add).toThrow(expect.objectContaining(full));
      await expect(drain(journal.lines())).rejects.toMatchObject(full);
    },
  );
});

it.each([
  ["a listing that is kept", 40, 1],
  ["one that is too long to be kept", 10_050, 2],
])("all keys are deleted, documents that make nodes first, by %s", async (_, chunks, listings) => {
  const documents = [".zgroup", "t/.zarray", "t/.zmetadata"];
  const store = new MemoryStore();
  const keys = Array.from({ length: chunks }, (_, i) => `t/${i}`);
  for (const key of [...keys, ...documents, "t/.zattrs"]) await store.set(key, new Uint8Array(1));
  const seen: StoreRequest[] = [];
  await deleteAll(withRequestLog(store, (entry) => seen.push(entry)));
  const deleted = seen.filter(({ operation }) => operation === "delete").map(({ key }) => key);
  expect(deleted.slice(0, documents.length).sort()).toEqual(documents);
  expect(new Set(deleted).size).toBe(chunks + 4);
  expect(await all(store.list(""))).toEqual([]);
  expect(seen.filter(({ operation }) => operation === "list")).toHaveLength(listings);
});

it("a line that is too long is left out to its end, in however many parts it comes", async () => {
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const parts = ["x".repeat(1024 * 1024 + 1), `${checkedLine("its end")}${checkedLine("next")}`].map(bytesOf);
  expect(await all(wholeLines(parts))).toEqual(["next"]);
});
