import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decodeBytes, encodeBytes } from "../../src/codecs/standalone/decode-bytes.ts";
import { openArray, slice } from "../../src/index.ts";
import { hasPython, runPython } from "./python.ts";

interface EncodedCase {
  readonly config: { readonly id: string };
  readonly encoded: string;
  readonly itemSize: number;
  readonly bytes?: string;
  readonly values?: readonly unknown[];
}

test.runIf(hasPython)("our bytes of objects, labels and checksums are those of numcodecs", async () => {
  const cases = (await runPython("encode_objects.py")) as EncodedCase[];
  expect(cases.length).toBeGreaterThan(40);
  for (const { config, encoded, itemSize, bytes = "", values } of cases) {
    const theirs = new Uint8Array(Buffer.from(encoded, "hex"));
    const plain = values ?? new Uint8Array(Buffer.from(bytes, "hex"));
    const decoded = await decodeBytes(config, theirs);
    expect(asJson(decoded), JSON.stringify(config)).toEqual(asJson(plain));
    // What is decoded tells whole floats from integers no more than JavaScript does.
    if (values && /json2|msgpack2/.test(config.id) && JSON.stringify(values).includes("1e+300")) continue;
    const ours = await encodeBytes(config, plain, { itemSize });
    expect(Buffer.from(ours).toString("hex"), JSON.stringify(config)).toBe(encoded);
  }
});

test.runIf(hasPython)("values in trees keep their places in either order", async () => {
  const folder = mkdtempSync(join(tmpdir(), "zarrflow-trees-"));
  try {
    const values = await runPython("encode_tree.py", folder);
    for (const name of ["json2-C", "json2-F", "msgpack2-C", "msgpack2-F"]) {
      const { data } = await slice(await openArray(`${folder}/${name}.zarr`)).read();
      expect([...data], name).toEqual(values);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function asJson(values: unknown): unknown {
  if (values instanceof Uint8Array) return Buffer.from(values).toString("hex");
  return JSON.parse(
    JSON.stringify(values, (_, value) => (typeof value === "bigint" ? Number(value) : value)),
  );
}
