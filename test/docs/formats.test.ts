import { describe, expect, test } from "vitest";
import { EXCEPTIONS, WRITE_EXCEPTIONS } from "../interop/exceptions.ts";
import type { Tally } from "../interop/tally.ts";
import { read } from "./code-block.ts";
import {
  exceptionList,
  lossTable,
  type ReaderCount,
  readersTable,
  tallyTable,
  totalOf,
} from "./format-tables.ts";

const PAGE = "docs/formats.md";

const approved = <T>(name: string): T => JSON.parse(read(`test/interop/approved/${name}.json`)) as T;
const readTally = approved<Tally>("read");
const writtenTally = approved<Tally>("written");

/** What stands between `<!-- NAME -->` and `<!-- end -->`, by name. */
const PARTS: Readonly<Record<string, string>> = {
  read: tallyTable(readTally),
  written: tallyTable(writtenTally),
  readers: readersTable(approved<Record<string, ReaderCount>>("read-by-python")),
  refused: exceptionList([...EXCEPTIONS.filter(({ gives }) => gives !== "read"), ...WRITE_EXCEPTIONS]),
  accepted: exceptionList(EXCEPTIONS.filter(({ gives }) => gives === "read")),
  losses: lossTable(read("test/flows/format-matrix.approved.txt")),
};

const partOf = (name: string) => new RegExp(`(?<=<!-- ${name} -->\\n\\n)[\\s\\S]*?(?=\\n\\n<!-- end -->)`);

describe(PAGE, () => {
  test.each(Object.keys(PARTS))("has a part for `%s`", (name) => {
    expect(read(PAGE)).toMatch(partOf(name));
  });

  // `npx vitest run --project 'node*' test/docs/formats.test.ts -u` writes them anew.
  test("its tables and lists are what the tests found", async () => {
    let page = read(PAGE);
    for (const [name, text] of Object.entries(PARTS)) page = page.replace(partOf(name), () => text);
    await expect(page).toMatchFileSnapshot(`../../${PAGE}`);
  });

  test("its sums are those of the tables", () => {
    const sum = ({ right, all }: ReturnType<typeof totalOf>) => `${right} of ${grouped(all)}`;
    expect(read(PAGE)).toContain(sum(totalOf(readTally)).replace(/^\d+/, grouped));
    expect(read(PAGE)).toContain(sum(totalOf(writtenTally)).replace(/^\d+/, grouped));
  });
});

function grouped(n: number | string): string {
  return Number(n).toLocaleString("en");
}
