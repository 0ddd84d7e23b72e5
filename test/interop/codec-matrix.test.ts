import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canonicalConfig } from "../../src/codecs/canonical-config.ts";
import { loadCodecs } from "../../src/codecs/chain/codec-chain.ts";
import { codecStep, type Direction } from "../../src/codecs/chain/codec-step.ts";
import { plainBuffers } from "../../src/util/buffers.ts";
import { expectSame } from "../codecs/support.ts";
import { inWords } from "../support/words.ts";
import { type CodecCase, codecCases, dataTypeOf, itemSizeOf } from "./codec-cases.ts";
import { hasPython, runPython } from "./python.ts";

interface Answer {
  readonly bytes?: string;
  readonly error?: string;
}

/** What numcodecs made of a case. */
interface Theirs {
  /** What it reads in what we wrote. */
  readonly decodedOurs: Answer;
  /** What it writes, and what it reads in that. */
  readonly encoded: Answer;
  readonly decoded: Answer;
}

describe.runIf(hasPython)("codecs beside numcodecs", () => {
  const ours = new Map<CodecCase, Uint8Array>();
  const theirs = new Map<CodecCase, Theirs>();
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "zarrflow-codecs-"));
    for (const one of codecCases) ours.set(one, await code("encode", one, one.bytes));
    const encoded = await ask(codecCases.map((one) => ({ ...one, action: "encode" })));
    const decoded = await ask(
      codecCases.map((one, i) => ({ ...one, action: "decode", bytes: bytesOf(encoded[i]) })),
    );
    const decodedOurs = await ask(
      codecCases.map((one) => ({ ...one, action: "decode", bytes: ours.get(one) ?? one.bytes })),
    );
    for (const [i, one] of codecCases.entries()) {
      theirs.set(one, {
        encoded: encoded[i] ?? {},
        decoded: decoded[i] ?? {},
        decodedOurs: decodedOurs[i] ?? {},
      });
    }
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  describe.each([...new Set(codecCases.map(({ config }) => config.id))])("%s", (id) => {
    const cases = codecCases.filter(({ config }) => config.id === id);
    test.each(cases.map((one) => [titleOf(one), one] as const))("%s", async (_, one) => {
      const found = theirs.get(one);
      expect(found?.encoded.error).toBeUndefined();
      const encoded = bytesOf(found?.encoded);
      const decoded = bytesOf(found?.decoded);
      // What it writes, we read; what we write, it reads, to the same bytes.
      expectSame(await code("decode", one, encoded), decoded);
      expect(found?.decodedOurs.error).toBeUndefined();
      expectSame(bytesOf(found?.decodedOurs), decoded);
      if (one.isExact) expectSame(ours.get(one), encoded);
      else expectSame(decoded, one.bytes);
    });
  });

  async function ask(jobs: readonly (CodecCase & { readonly action: Direction })[]): Promise<Answer[]> {
    const path = join(folder, "jobs.json");
    writeFileSync(
      path,
      JSON.stringify(jobs.map((job) => ({ ...job, bytes: Buffer.from(job.bytes).toString("base64") }))),
    );
    return (await runPython("numcodecs_jobs.py", path)) as Answer[];
  }
});

function titleOf({ config: { id: _, ...settings }, dtype, bytes }: CodecCase): string {
  return `${inWords(settings)}: ${bytes.length} bytes of ${dtype}`;
}

function bytesOf(answer: Answer | undefined): Uint8Array {
  return new Uint8Array(Buffer.from(answer?.bytes ?? "", "base64"));
}

async function code(direction: Direction, { config, dtype, bytes }: CodecCase, source: Uint8Array) {
  const dataType = dataTypeOf(dtype);
  const endian = dtype.startsWith(">") ? "big" : "little";
  const spec = { shape: [bytes.length / itemSizeOf(dtype)], dataType, fillValue: null };
  const configs = [{ name: "bytes", configuration: { endian } }, canonicalConfig(config)];
  const placed = (await loadCodecs(configs, spec))[1];
  if (!placed) throw new Error("no codec");
  return (await codecStep(placed, direction, plainBuffers)(source.slice())) as Uint8Array;
}
