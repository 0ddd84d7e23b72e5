// The jobs of examples/jobs, written with zarrita.
import { FileSystemStore } from "@zarrita/storage";
import * as zarrita from "zarrita";

const openArray = (url) => zarrita.open(new zarrita.FetchStore(url), { kind: "array" });
// slice-service
/** Converts `time=0:24,latitude=5` to a selection of zarrita, with the names of dimensions. */
function selectionOf(ranges, { attrs, shape, dimensionNames }) {
  const names = dimensionNames ?? attrs._ARRAY_DIMENSIONS;
  const selection = shape.map(() => null);
  for (const range of ranges.split(",").filter(Boolean)) {
    const [name, items] = range.split("=");
    const at = names.indexOf(name);
    if (at < 0) throw new RangeError(`there is no dimension ${name}`);
    const [start, stop, step] = items.split(":").map((text) => (text === "" ? null : Number(text)));
    if (Number.isNaN(start) || Number.isNaN(stop)) throw new RangeError(`${items} is no range`);
    selection[at] = items.includes(":") ? zarrita.slice(start, stop, step) : start;
  }
  return selection;
}

export async function sliceService(url) {
  const array = await openArray(url);
  return async ({ url, signal }) => {
    try {
      const ranges = new URL(url).searchParams.get("slice") ?? "";
      const selection = selectionOf(ranges, array);
      const { data, shape } = await zarrita.get(array, selection, { opts: { signal } });
      const headers = { "content-type": "application/octet-stream", "x-shape": shape.join() };
      return new Response(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), { headers });
    } catch (error) {
      return new Response(error.message, { status: error instanceof RangeError ? 400 : 502 });
    }
  };
}
// map-page
/** Decodes packed numbers; missing ones become NaN. */
function unpacked(data, { scale_factor: scale = 1, add_offset: offset = 0, _FillValue: missing }) {
  return Float64Array.from(data, (value) => (value === missing ? Number.NaN : value * scale + offset));
}

export async function mapPixels(url, time) {
  const array = await openArray(url);
  const { data } = await zarrita.get(array, [time, null, null]);
  const values = unpacked(data, array.attrs);
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const pixels = new Uint8ClampedArray(4 * values.length);
  for (const [i, value] of values.entries()) {
    if (Number.isNaN(value)) continue;
    const warmth = (255 * (value - least)) / (most - least || 1);
    pixels.set([warmth, 64, 255 - warmth, 255], 4 * i);
  }
  return pixels;
}
// point-series
async function nearestIndex(url, label) {
  const { data } = await zarrita.get(await openArray(url));
  let nearest = 0;
  for (let i = 1; i < data.length; i++) {
    if (Math.abs(data[i] - label) < Math.abs(data[nearest] - label)) nearest = i;
  }
  return nearest;
}

export async function pointSeries(url, latitude, longitude) {
  const group = url.slice(0, url.lastIndexOf("/"));
  const [array, row, column] = await Promise.all([
    openArray(url),
    nearestIndex(`${group}/latitude`, latitude),
    nearestIndex(`${group}/longitude`, longitude),
  ]);
  const { data } = await zarrita.get(array, [null, row, column]);
  return Array.from(unpacked(data, array.attrs));
}
// celsius
/** Reads the whole array into memory. After a failure, the chunks already written stay. */
export async function toCelsius(source, target) {
  const array = await openArray(source);
  const { scale_factor: _, add_offset: _offset, _FillValue: _missing, ...attributes } = array.attrs;
  const { data, shape } = await zarrita.get(array);
  const values = Float32Array.from(unpacked(data, array.attrs), (kelvin) => kelvin - 273.15);
  const written = await zarrita.create(new FileSystemStore(target), {
    dtype: "float32",
    shape,
    chunkShape: [shape[0], 16, 16],
    codecs: [{ name: "bytes", configuration: { endian: "little" } }],
    fillValue: Number.NaN,
    dimensionNames: array.dimensionNames,
    attributes: { ...attributes, units: "degC" },
  });
  const stride = [shape[1] * shape[2], shape[2], 1];
  await zarrita.set(written, null, { data: values, shape, stride });
}
