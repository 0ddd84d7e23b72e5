// @module-tag slow
import { readdirSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copy, exists, type FlowEvent, openArray, rechunk } from "../../src/index.ts";
import type { EventOptions } from "../../src/run/events.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { expectTrueConsolidation } from "../hierarchy/fresh-consolidation.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

withoutPauses();

const folder = temporaryFolder();

/** Writes the array `time` of a hierarchy anew, with other values. */
async function replaceTime(hierarchy: string, zarrFormat: "v2" | "v3", options: EventOptions = {}) {
  const store = await makeHierarchy(zarrFormat, { offset: 500 });
  const how = { chunks: [2], ifExists: "replace", ...options } as const;
  return rechunk({ store, path: "time" }, `${hierarchy}/time`, how);
}

describe.each(["v2", "v3"] as const)(
  "an array of a consolidated hierarchy of %s in S3 that is replaced",
  (zarrFormat) => {
    const HIERARCHY = `s3://${BUCKET}/o.zarr`;
    let server: S3Server;
    beforeEach(async () => {
      server = await serveReachableBucket();
      await copy(await makeHierarchy(zarrFormat, { consolidated: true }), HIERARCHY);
    });
    afterEach(() => server.close());

    const told = () => {
      const key = zarrFormat === "v2" ? "o.zarr/.zmetadata" : "o.zarr/zarr.json";
      const document = JSON.parse(String(server.objects.get(key)));
      return Object.keys(document.metadata ?? document.consolidated_metadata.metadata).join();
    };
    const replace = () => replaceTime(HIERARCHY, zarrFormat);

    test("has left the consolidated metadata before its first key is deleted", async () => {
      const seen: boolean[] = [];
      server.fault = (_, { method, key, query }) => {
        const isChange = method === "DELETE" || query.has("delete") || key.startsWith("o.zarr/time/");
        if (isChange && method !== "GET" && method !== "HEAD" && !key.endsWith("lock"))
          seen.push(told().includes("time"));
        return false;
      };
      await replace();
      expect(seen.length).toBeGreaterThan(3);
      expect(seen).not.toContain(true);
      expect(told()).toContain("time");
    });

    test("is not found by anybody when the run was cut", async () => {
      let isCut = false;
      server.fault = (response, { method, key }) => {
        isCut ||= method === "PUT" && key.startsWith("o.zarr/time/") && !key.endsWith("lock");
        if (isCut) response.writeHead(403).end();
        return isCut;
      };
      await expect(replace()).rejects.toMatchObject({ code: "access-denied" });
      server.fault = undefined;
      expect(await exists(`${HIERARCHY}/time`)).toBe(false);
      expect(await exists(`${HIERARCHY}/2023/t2m`)).toBe(true);
    });

    test("is there as it was when its replacement is refused at the first key", async () => {
      server.fault = (response, { method, query }) => {
        const isDeletion = method === "DELETE" || query.has("delete");
        if (isDeletion) response.writeHead(403).end();
        return isDeletion;
      };
      const before = told();
      await expect(replace()).rejects.toMatchObject({ code: "access-denied" });
      expect(told().split(",").sort()).toEqual(before.split(",").sort());
      expect((await openArray(`${HIERARCHY}/time`)).chunkShape).toEqual([4]);
    });
  },
);

test("what cannot be removed once a replacement is published is a warning, and undoes nothing", async () => {
  const root = folder.next("h.zarr");
  await mkdir(dirname(root), { recursive: true });
  await copy(await makeHierarchy("v2", { consolidated: true }), root);
  const events: FlowEvent[] = [];
  const onEvent = async (event: FlowEvent) => {
    events.push(event);
    if (event.type !== "task-start" && event.type !== "plan") return;
    // in the way of what is to be removed
    for (const name of readdirSync(root).filter((one) => one.startsWith(".time.zarrflow-")))
      await mkdir(join(root, name, "trash/in the way"), { recursive: true });
  };
  await replaceTime(root, "v2", { onEvent });
  const message = expect.stringContaining("could not be removed");
  expect(events).toContainEqual(expect.objectContaining({ type: "warning", message }));
  expect((await openArray(`${root}/time`)).chunkShape).toEqual([2]);
  const { metadata } = JSON.parse(await readFile(join(root, ".zmetadata"), "utf8"));
  expect(metadata["time/.zarray"].chunks).toEqual([2]);
  await expectTrueConsolidation(new DirectoryStore(root));
});
