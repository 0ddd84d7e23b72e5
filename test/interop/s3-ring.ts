import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { copy } from "../../src/index.ts";
import { shared } from "./shared.ts";

/** The sets of real data that go round. */
export const dataSets = ["era5-uk-t2m.zarr", "basin-mask.zarr", "era-interim-uvz.v3.zarr"];

export interface Ring {
  readonly source: string;
  /** URLs where copies of the source come to be, each of the one before. */
  readonly stops: readonly string[];
  /** The stop in memory. */
  readonly memory: string;
  /** The folder that is the last stop. */
  readonly end: string;
}

/** A ring of copies: a zip, a zip in S3, keys in S3, a folder deep in others, memory, a folder. */
export function ringOf(name: string, { bucket, folder }: { bucket: string; folder: string }): Ring {
  const prefix = `s3://${bucket}/${randomUUID()}`;
  const memory = `memory:${randomUUID()}`;
  const end = join(folder, "end", name);
  return {
    source: `${shared}data/${name}`,
    stops: [
      join(folder, `${name}.zip`),
      `${prefix}/${name}.zip`,
      `${prefix}/${name}`,
      join(folder, "a", "folder", "deep in others", name),
      memory,
      end,
    ],
    memory,
    end,
  };
}

/** Copies a source from stop to stop. */
export async function goRound({ source, stops }: Ring): Promise<void> {
  let from = source;
  for (const stop of stops) {
    await copy(from, stop);
    from = stop;
  }
}
