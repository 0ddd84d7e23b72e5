// Synthetic data for the demo, and for the examples in docs/guides/.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { copy, openArray } from "zarrflow";
import { DirectoryStore } from "zarrflow/stores/directory";
import { encodeChunks, writeChunks } from "zarrflow/streams";

/** Makes the data of docs/guides/ in a new folder: a month on a part of that grid, and the same as a zip. */
export async function prepareGuides(folder, signal) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const [small, zip] = ["era5.zarr", "archive.zarr.zip"].map((name) => join(folder, name));
  await makeWeather(small, [744, 33, 49], signal);
  await copy(small, zip, { signal });
}

/** Writes a field like those of a reanalysis, with the library's own stages. */
export async function makeWeather(path, shape, signal) {
  const chunkShape = [24, ...shape.slice(1)];
  const store = new DirectoryStore(path);
  const json = (key, value) => store.set(key, new TextEncoder().encode(JSON.stringify(value, null, 4)));
  const arrayDocument = (dtype, ofShape, chunks) => ({
    zarr_format: 2,
    shape: ofShape,
    chunks,
    dtype,
    compressor: { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 },
    fill_value: null,
    order: "C",
    filters: null,
  });
  const array = async (name, dtype, ofShape, chunks, dimensions, attributes) => {
    await json(`${name}/.zarray`, arrayDocument(dtype, ofShape, chunks));
    await json(`${name}/.zattrs`, { _ARRAY_DIMENSIONS: dimensions, ...attributes });
    return openArray({ store, path: name });
  };
  await json(".zgroup", { zarr_format: 2 });
  const [hours, rows, columns] = shape;
  const axes = {
    time: { values: Int32Array.from({ length: hours }, (_, i) => i), units: "hours since 2024-06-01" },
    latitude: { values: Float32Array.from({ length: rows }, (_, i) => 90 - 1.5 * i), units: "degrees_north" },
    longitude: { values: Float32Array.from({ length: columns }, (_, i) => 1.25 * i), units: "degrees_east" },
  };
  for (const [name, { values: items, units }] of Object.entries(axes)) {
    const axis = await array(name, name === "time" ? "<i4" : "<f4", [items.length], [items.length], [name], {
      units,
    });
    await write(axis, [chunk(0, [0], [items.length], items)]);
  }
  const dimensions = Object.keys(axes);
  const t2m = await array("t2m", "<f4", shape, chunkShape, dimensions, {
    units: "K",
    long_name: "2 metre temperature",
  });
  await write(t2m, days());

  async function write(target, items) {
    await ReadableStream.from(items)
      .pipeThrough(encodeChunks(target))
      .pipeTo(writeChunks(target), { signal });
  }

  function* days() {
    const temperature = weather(rows, columns);
    for (let day = 0; day * 24 < hours; day++) {
      const items = new Float32Array(24 * rows * columns);
      for (let hour = 0; hour < 24; hour++)
        temperature(day * 24 + hour, items.subarray(hour * rows * columns));
      yield chunk(day, [day, 0, 0], chunkShape, items);
    }
  }
}

/** A chunk for the stages: items in C order, and their position. */
function chunk(index, coords, shape, items) {
  const bytes = new Uint8Array(items.buffer);
  const strides = shape.map((_, d) => shape.slice(d + 1).reduce((product, n) => product * n, 1));
  const start = coords.map((c, d) => c * shape[d]);
  const data = { kind: "fixed", bytes, itemSize: items.BYTES_PER_ELEMENT, shape, strides };
  return { index, coords, region: { start, shape }, data };
}

/** Temperature in kelvin, to a hundredth: colder toward the poles, warmer by day, with traveling waves and noise. */
function weather(rows, columns) {
  let seed = 1;
  const noise = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    return seed / 2 ** 31;
  };
  return (hour, items) => {
    const wave = Float64Array.from({ length: columns }, (_, c) =>
      Math.sin((2 * Math.PI * (3 * c)) / columns - hour / 40),
    );
    const sun = Float64Array.from({ length: columns }, (_, c) =>
      Math.cos(2 * Math.PI * (c / columns + hour / 24)),
    );
    for (let r = 0; r < rows; r++) {
      const height = Math.cos(Math.PI * (r / (rows - 1) - 0.5));
      for (let c = 0; c < columns; c++) {
        const kelvin = 245 + 55 * height + 6 * wave[c] * height + 4 * sun[c] * height + 0.2 * noise();
        items[r * columns + c] = Math.round(kelvin * 100) / 100;
      }
    }
  };
}
