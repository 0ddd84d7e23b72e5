import { createPipeline } from "../../src/codecs/chain/codec-chain.ts";
import type { ChunkData } from "../../src/codecs/chunk-data.ts";
import type { ArrayToBytesCodec, BytesToBytesCodec } from "../../src/codecs/codec.ts";
import { kernels } from "../../src/codecs/kernels/kernels.ts";
import { wordView } from "../../src/codecs/kernels/swap-bytes.ts";
import { canonicalConfig, makeCodec } from "../../src/codecs/registry.ts";
import { plainBuffers } from "../../src/util/bytes.ts";
import { product } from "../../src/util/shape.ts";
import {
  CODEC_SAMPLES,
  type CodecSample,
  sampleChain,
  sampleConfigs,
  sampleSpec,
} from "../codecs/codec-samples.ts";
import { sampleChunk } from "../codecs/sample-chunks.ts";
import { RAW, specOf } from "../codecs/support.ts";
import { foreignFrames } from "./foreign-frames.ts";
import { inputs } from "./inputs.ts";
import { CHUNK_CODES, Fault, type Seed, type Subject } from "./subject.ts";

/** Every codec of the registry by its samples, each inner codec of blosc apart; a test holds that none is left out. */
export function codecSubjects(): readonly Subject[] {
  const nameOf = ({ name, variant }: CodecSample) => (variant ? `${name} ${variant}` : name);
  return [...new Set(CODEC_SAMPLES.map(nameOf))].map((name) => ({
    name,
    codes: CHUNK_CODES,
    seeds: async () => {
      const samples = CODEC_SAMPLES.filter((sample) => nameOf(sample) === name);
      return (await Promise.all([...samples.map(seedsOf), foreignSeeds(name)])).flat();
    },
  }));
}

function seedsOf(sample: CodecSample): Promise<Seed[]> {
  return Promise.all(inputs().map((bytes) => seedOf(sample, bytes)));
}

async function seedOf(sample: CodecSample, bytes: Uint8Array): Promise<Seed> {
  const data = sampleChunk(sample, bytes, plainBuffers);
  const items = product(data.shape);
  const chain = await sampleChain(sample, items);
  const { codec } = chain.find(({ codec }) => codec.name === sample.name) ?? {};
  if (codec?.kind === "bytes-to-bytes") return bytesSeed(codec, await encoded(codec, data.bytes), data.bytes);
  if (codec?.kind === "array-to-bytes") {
    const size = data.bytes.length;
    const mend = sample.name === "sharding_indexed" ? shardMender(sample, items) : undefined;
    return { ...arraySeed(codec, await codec.encode(data, plainBuffers), size), ...(mend && { mend }) };
  }
  const spec = sampleSpec(sample, items);
  const pipeline = await createPipeline(await sampleConfigs(sample, spec), spec);
  const size = data.bytes.length;
  const frame = await pipeline.encode(data, plainBuffers);
  return {
    frame,
    size,
    ownsSource: true,
    decode: async (source, target) => handOver(await pipeline.decode(source, plainBuffers), items, target),
  };
}

async function foreignSeeds(name: string): Promise<Seed[]> {
  const seeds = foreignFrames()
    .filter(({ config }) => name === [config.id, config.cname].filter(Boolean).join(" "))
    .map(async ({ config, frame, decoded }) => {
      const spec = specOf([decoded.length], RAW(1));
      const codec = await makeCodec(canonicalConfig(config), { spec, itemSize: 1, endian: "little" });
      return bytesSeed(codec as BytesToBytesCodec, frame, decoded);
    });
  return Promise.all(seeds);
}

async function encoded(codec: BytesToBytesCodec, bytes: Uint8Array): Promise<Uint8Array> {
  const target = new Uint8Array(codec.maxEncodedSize(bytes.length));
  return target.slice(0, await codec.encodeInto(bytes, target));
}

function bytesSeed(codec: BytesToBytesCodec, frame: Uint8Array, { length }: Uint8Array): Seed {
  return {
    frame,
    size: length,
    decode(source, target) {
      const written = codec.decodeInto(source, target);
      if (typeof written === "number") checkStated(codec, source, written);
      return written;
    },
  };
}

/** What a decoded frame states of its size must be so. */
function checkStated(codec: BytesToBytesCodec, source: Uint8Array, written: number): void {
  const stated = codec.statedDecodedSize?.(source);
  if (stated === undefined || stated === written) return;
  throw new Fault(`${stated} bytes are stated, ${written} are given`);
}

function arraySeed(codec: ArrayToBytesCodec, frame: Uint8Array, size: number): Seed {
  return {
    frame,
    size,
    ownsSource: true,
    decode(source, target) {
      const data = codec.decode(source, plainBuffers);
      if (data instanceof Promise) return data.then((later) => handOver(later, undefined, target));
      return handOver(data, undefined, target);
    },
  };
}

/** Makes the checksum of a shard's index right, so that its entries are read. */
function shardMender({ configuration, itemsMultiple = 1 }: CodecSample, items: number): Seed["mend"] {
  const indexSize = (16 * items) / itemsMultiple;
  return (frame) => {
    const start = configuration.index_location === "start" ? 0 : frame.length - indexSize - 4;
    const end = start + indexSize;
    if (start < 0 || end + 4 > frame.length) return;
    wordView(frame).setUint32(end, kernels().crc32c(frame.subarray(start, end)), true);
  };
}

/** The bytes of `data`, once their layout has been checked. */
function handOver(data: ChunkData, items: number | undefined, target: Uint8Array): number {
  if (items !== undefined && product(data.shape) !== items) throw new Fault(`shape ${data.shape}`);
  if (data.kind === "variable") checkOffsets(data.offsets, product(data.shape), data.bytes.length);
  else if (data.bytes.length !== product(data.shape) * data.itemSize) throw new Fault("not whole items");
  target.set(data.bytes.subarray(0, target.length));
  return Math.min(data.bytes.length, target.length);
}

function checkOffsets(offsets: Uint32Array, items: number, length: number): void {
  if (offsets.length !== items + 1) throw new Fault(`${offsets.length} offsets for ${items} items`);
  let start = 0;
  for (const end of offsets) {
    if (end < start) throw new Fault("offsets go back");
    start = end;
  }
  if (start !== length) throw new Fault(`offsets end at ${start}, the bytes at ${length}`);
}
