// @module-tag long
import { afterEach, beforeEach, expect, it } from "vitest";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { runCli, testFolder } from "../support/cli.ts";
import { serveReachableBucket, stubEnvironment as setEnv } from "../support/s3-environment.ts";
import { samples } from "../support/samples.ts";

const ARRAYS = samples(2000);
const SOURCE = `s3://${BUCKET}/many.zarr`;

let server: S3Server;
beforeEach(async () => {
  server = await serveReachableBucket();
  setEnv({ AWS_EC2_METADATA_DISABLED: "true" });
  const group = Buffer.from('{"zarr_format": 2}');
  const array = Buffer.from(
    JSON.stringify({
      ...{ zarr_format: 2, shape: [2], chunks: [2], dtype: "|i1", compressor: null },
      ...{ fill_value: 0, order: "C", filters: null },
    }),
  );
  server.objects.set("many.zarr/.zgroup", group);
  for (let i = 0; i < ARRAYS; i++) {
    server.objects.set(`many.zarr/a${i}/.zarray`, array);
    server.objects.set(`many.zarr/a${i}/0`, Buffer.of(1, 2));
  }
});
afterEach(() => server.close());

it("warns of no leak where hundreds of arrays lie in S3", async () => {
  const cwd = await testFolder();
  const tree = await runCli(cwd, "tree", SOURCE);
  expect(tree).toMatchObject({ code: 0, stderr: "" });
  expect(tree.stdout.split("\n")).toHaveLength(ARRAYS + 2);
  const copy = await runCli(cwd, "copy", SOURCE, `s3://${BUCKET}/copy.zarr`, "--quiet");
  expect(copy).toMatchObject({ code: 0, stderr: "" });
  const local = await runCli(cwd, "copy", SOURCE, "many.zarr", "--quiet", "--codec", "zstd");
  expect(local).toMatchObject({ code: 0, stderr: "" });
}, 300_000);
