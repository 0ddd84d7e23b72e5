// @module-tag sampled
// @module-tag slow
import { describe, expect, test } from "vitest";
import { type ChunkForm, codecStep } from "../../../src/codecs/chain/codec-step.ts";
import type { ChunkData } from "../../../src/codecs/chunk-data.ts";
import type { PlacedCodec } from "../../../src/codecs/codec.ts";
import { isZarrflowError } from "../../../src/util/errors.ts";
import { product } from "../../../src/util/shape.ts";
import { drawsAll, sampledBelow } from "../../support/samples.ts";
import { CODEC_SAMPLES, type CodecSample, sampleChain, titleOf } from "../codec-samples.ts";
import { sampleChunk } from "../sample-chunks.ts";
import { GuardedBuffers, randomNumbers } from "../support.ts";

const CODES = ["corrupt-chunk", "codec-error", "resource-limit"];
/** What a change cannot hide from. */
const CHECKED = /^(?:gzip|v1.gzip|zlib|bz2|crc32c?|adler32|fletcher32|jenkins_lookup3) |"checksum":true/;

/** Codecs within shards, which errors name where it is them. */
const INNER = ["bytes", "vlen-utf8", "zlib", "crc32c"];

/** Chains with one codec of each kind, or what blocks and streams of blosc make differ. */
const SAMPLES: readonly CodecSample[] = [
  ...CODEC_SAMPLES.filter(({ name }) => name !== "blosc"),
  ...CODEC_SAMPLES.filter(({ name }) => name === "blosc").map((sample) => ({
    ...sample,
    configuration: { ...sample.configuration, blocksize: 256 },
  })),
];

describe.each(SAMPLES.map((sample) => [titleOf(sample), sample] as const))("%s", (title, sample) => {
  const random = randomNumbers(title.length);
  const bytes = Uint8Array.from({ length: 900 }, (_, i) =>
    i % 90 < 45 ? random(256) : Math.floor(i / 4) % 5,
  );

  const encode = async () => {
    const buffers = new GuardedBuffers();
    const data = sampleChunk(sample, bytes, buffers);
    const chain = await sampleChain(sample, product(data.shape));
    let form: ChunkForm = data;
    for (const placed of chain) form = await codecStep(placed, "encode", buffers)(form);
    return { chain, frame: form as Uint8Array };
  };

  /** What a frame decodes to, in buffers that are all given back; undefined where it is refused. */
  const decode = async (chain: readonly PlacedCodec[], frame: Uint8Array) => {
    const buffers = new GuardedBuffers();
    try {
      let form: ChunkForm = buffers.copyOf(frame);
      for (const placed of chain.toReversed()) form = await codecStep(placed, "decode", buffers)(form);
      const decoded = form as ChunkData;
      const copy = decoded.bytes.slice();
      buffers.give(decoded.bytes);
      return { ...decoded, bytes: copy };
    } catch (error) {
      if (!isZarrflowError(error)) throw error;
      expect(CODES).toContain(error.code);
      expect([...INNER, ...chain.map(({ codec }) => codec.name)]).toContain(error.details.codec);
      return undefined;
    } finally {
      expect(buffers.live).toBe(0);
    }
  };

  test("no cut value decodes", async () => {
    const { chain, frame } = await encode();
    expect(await decode(chain, frame)).toBeDefined();
    expect(frame.length).toBeGreaterThan(10);
    for (const length of sampledBelow(frame.length)) {
      expect(await decode(chain, frame.subarray(0, length)), `cut at ${length}`).toBeUndefined();
    }
  });

  test("a changed value is refused or decodes to a whole chunk, and nothing else is touched", async () => {
    const { chain, frame } = await encode();
    const whole = await decode(chain, frame);
    if (!whole) throw new Error("what was encoded does not decode");
    let differing = 0;
    for (let round = 0; round < (drawsAll ? 300 : 40); round++) {
      const changed = frame.slice();
      // Headers are changed more often than data.
      const at = round % 2 === 0 ? random(Math.min(40, frame.length)) : random(frame.length);
      for (let change = 0; change <= random(3); change++) {
        changed[(at + change) % frame.length] = round % 3 === 0 ? random(4) * 85 : random(256);
      }
      const found = await decode(chain, changed);
      if (found === undefined) continue;
      expect(found.shape).toEqual(whole.shape);
      if (found.kind === "fixed") expect(found.bytes.length).toBe(whole.bytes.length);
      if (Buffer.compare(found.bytes, whole.bytes) !== 0) differing++;
    }
    if (CHECKED.test(title)) expect(differing).toBe(0);
  });
});
