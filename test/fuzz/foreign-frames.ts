import { readFileSync } from "node:fs";
/** What another encoder made; `foreign_frames.py` beside this file writes them. */
export interface ForeignFrame {
  readonly config: { readonly id: string; readonly [name: string]: unknown };
  readonly frame: Uint8Array;
  readonly decoded: Uint8Array;
}

interface Fixture {
  readonly inputs: Readonly<Record<string, string>>;
  readonly frames: readonly {
    readonly config: ForeignFrame["config"];
    readonly inputs: readonly string[];
    readonly encoded: string;
  }[];
}

const fixture = new URL("../fixtures/foreign-frames.json", import.meta.url);

/** Frames of numcodecs and of Python's own modules. */
export function foreignFrames(): readonly ForeignFrame[] {
  const { inputs, frames } = JSON.parse(readFileSync(fixture, "utf8")) as Fixture;
  return frames.map(({ config, inputs: names, encoded }) => ({
    config,
    frame: new Uint8Array(Buffer.from(encoded, "base64")),
    decoded: new Uint8Array(Buffer.concat(names.map((name) => Buffer.from(inputs[name] ?? "", "base64")))),
  }));
}
