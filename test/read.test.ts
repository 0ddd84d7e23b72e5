import { expect, test } from "vitest";
import * as all from "../src/index.ts";
import * as read from "../src/read.ts";
import { bundleForBrowsers, loadedAtOnce } from "./support/browser-bundle.ts";

/** What flows need that write, and stores that a page of HTTP does not open. */
const NOT_FOR_READING = [
  /^stores\/(s3|zip)/,
  /^flows\/plan\/(?!chunk-)/,
  /pyramid|ledger|executors/,
  /^hierarchy\/(create|write|edit)\//,
  /\.node\.ts$/,
];

test("what opens and reads loads at once nothing that writes, plans, or opens other stores", async () => {
  const modules = loadedAtOnce(await bundleForBrowsers(["read"]), "read");
  expect(modules).toContain("flows/slice.ts");
  expect(modules.filter((name) => NOT_FOR_READING.some((pattern) => pattern.test(name)))).toEqual([]);
});

test("its names are those of the package", () => {
  expect(all).toMatchObject(read);
});
