// Prints what zarrita finds in arrays, as read_served.py does: node read-by-zarrita.mjs JOBS
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { FileSystemStore } from "@zarrita/storage";
import * as zarrita from "zarrita";

// zarrita leaves promises of codecs that it does not know to reject unseen.
process.on("unhandledRejection", () => {});

const jobs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const found = {};
for (let at = 0; at < jobs.length; at += 8) {
  await Promise.all(jobs.slice(at, at + 8).map(async (job) => (found[job.id] = await outcomeOf(job))));
}
process.stdout.write(JSON.stringify(found));

async function outcomeOf({ url, format, selection, values: wantsValues }) {
  try {
    const store = url.includes("://") ? new zarrita.FetchStore(url) : new FileSystemStore(url);
    const array = await zarrita.open[`v${format}`](store, { kind: "array" });
    const part = selection?.map(([start, stop]) => zarrita.slice(start, stop));
    // `get` gives the item itself where there are no dimensions.
    const { data, shape, stride } =
      array.shape.length === 0 ? await array.getChunk([]) : await zarrita.get(array, part);
    const places = placesOf(shape, stride);
    if (Array.isArray(data) || wantsValues)
      return { values: places.map((at) => plain(data.get ? data.get(at) : data[at])) };
    const hash = createHash("sha256");
    for (const at of places) hash.update(itemBytes(data, at));
    return { sha256: hash.digest("hex") };
  } catch (error) {
    const cause = error?.cause?.code ? ` (${error.cause.code})` : "";
    return { error: error instanceof Error ? `${error.name}: ${error.message}${cause}` : String(error) };
  }
}

/** Where items are, in C order. */
function placesOf(shape, stride) {
  let places = [0];
  for (const [dimension, length] of shape.entries()) {
    const steps = Array.from({ length }, (_, i) => i * stride[dimension]);
    places = places.flatMap((at) => steps.map((step) => at + step));
  }
  return places;
}

function plain(value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return typeof value === "bigint" ? Number(value) : value;
}

function itemBytes(data, at) {
  if (data instanceof zarrita.ByteStringArray)
    return data._data.subarray(at * data.chars, (at + 1) * data.chars);
  // Both of them are views of plain bytes.
  const { buffer, byteOffset = 0, BYTES_PER_ELEMENT: size } = data;
  return new Uint8Array(buffer, byteOffset + at * size, size);
}
