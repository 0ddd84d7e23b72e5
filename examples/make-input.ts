import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openArray } from "zarrflow";
import { DirectoryStore } from "zarrflow/stores/directory";
import { type DecodedChunk, encodeChunks, regrid, writeChunks } from "zarrflow/streams";

const dimensions = { time: 744, latitude: 33, longitude: 49 };
const hourShape = [1, dimensions.latitude, dimensions.longitude];
const blosc = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 };

/** Makes a new folder with `era5.zarr`: a month of hourly temperatures, in chunks of a day. Returns the folder. */
export async function makeInput(): Promise<string> {
  const into = await mkdtemp(join(tmpdir(), "zarrflow-example-"));
  const store = new DirectoryStore(join(into, "era5.zarr"));
  const day = { shape: Object.values(dimensions), chunks: [24, ...hourShape.slice(1)] };
  const documents = {
    ".zgroup": { zarr_format: 2 },
    ".zattrs": { title: "a made-up month of temperatures" },
    "t2m/.zarray": {
      ...day,
      dtype: "<f4",
      compressor: blosc,
      fill_value: "NaN",
      order: "C",
      filters: null,
      zarr_format: 2,
    },
    "t2m/.zattrs": { units: "K", _ARRAY_DIMENSIONS: Object.keys(dimensions) },
  };
  const put = (key: string, json: unknown) => store.set(key, new TextEncoder().encode(JSON.stringify(json)));
  for (const [key, json] of Object.entries(documents)) await put(key, json);
  await put(".zmetadata", { zarr_consolidated_format: 1, metadata: documents });

  const t2m = await openArray({ store, path: "t2m" });
  const { spec } = await t2m.pipeline();
  const place = { store, path: t2m.path, chunkKey: (coords: readonly number[]) => t2m.chunkKey(coords) };
  const frames = hours();
  await new ReadableStream<DecodedChunk>({
    pull(controller) {
      const { done, value } = frames.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  })
    .pipeThrough(regrid({ shape: t2m.shape, chunk: spec }))
    .pipeThrough(encodeChunks(t2m))
    .pipeTo(writeChunks(place));
  return into;
}

function* hours(): Generator<DecodedChunk> {
  const [, latitudes = 0, longitudes = 0] = hourShape;
  for (let hour = 0; hour < dimensions.time; hour++) {
    const values = Float32Array.from({ length: latitudes * longitudes }, (_, i) => {
      const northing = Math.floor(i / longitudes) / latitudes;
      return 283 - 8 * northing + 4 * Math.sin((hour / 24) * 2 * Math.PI) + (i % longitudes) / 50;
    });
    const data = {
      kind: "fixed",
      bytes: new Uint8Array(values.buffer),
      itemSize: 4,
      shape: hourShape,
    } as const;
    const coords = [hour, 0, 0];
    yield {
      index: hour,
      coords,
      region: { start: coords, shape: hourShape },
      data: { ...data, strides: [latitudes * longitudes, longitudes, 1] },
    };
  }
}
