import type { ZarrFormat } from "../array-metadata.ts";
import type { DataType } from "../data-type.ts";

/** The differences between the drafts of Zarr v3. */
export interface DraftForm {
  readonly name: ZarrFormat;
  /** Accepted values of `metadata_encoding`; the first is written. */
  readonly encodings: readonly string[];
  /** Members that only this draft's `zarr.json` has. */
  readonly bootstrap: Readonly<Record<string, string>>;
  /** End of the keys of documents. */
  readonly suffix: string;
  /** Prefix of the root's chunks, including the slash. */
  readonly chunks: string;
  /** Precedes the first index in a chunk's key. */
  readonly chunkMark: string;
  /** Default separator of the indices in a chunk's key. */
  readonly separator: "." | "/";
  /** True if the separator is written even if it is the default. */
  readonly statesSeparator: boolean;
  /** True if groups do not need `extensions`. */
  readonly plainGroups: boolean;
  /** URIs of the writers' extension types, by kind of data type. */
  readonly extensionTypes: ReadonlyMap<DataType["kind"], string>;
  codecUri(id: string): string;
}

export const PROTOCOL = "https://purl.org/zarr/spec/protocol/core/3.0";
const SPECS = "https://zarr-specs.readthedocs.io/en";

/** The editor's draft of 19 June 2019. */
export const DRAFT_2019: DraftForm = {
  name: "v3-draft-2019",
  encodings: ["application/json"],
  bootstrap: {},
  suffix: "",
  chunks: "data/",
  chunkMark: "",
  separator: ".",
  statesSeparator: false,
  plainGroups: false,
  extensionTypes: new Map(),
  codecUri: (id) => `http://purl.org/zarr/spec/codec/${id}`,
};

/** The later draft that zarrita (2020-2021) and zarr-python 2.11-2.18 wrote. */
export const DRAFT_2020: DraftForm = {
  name: "v3-draft-2020",
  encodings: [PROTOCOL, "application/json"],
  bootstrap: { metadata_key_suffix: ".json" },
  suffix: ".json",
  chunks: "data/root/",
  chunkMark: "c",
  separator: "/",
  statesSeparator: true,
  plainGroups: true,
  extensionTypes: new Map([
    ["complex", `${SPECS}/core-protocol-v3.0-dev/protocol/extensions/complex-dtypes/v1.0.html`],
    ["datetime", `${SPECS}/latest/extensions/data-types/datetime/v1.0.html`],
    ["timedelta", `${SPECS}/latest/extensions/data-types/datetime/v1.0.html`],
  ]),
  codecUri: (id) => `https://purl.org/zarr/spec/codec/${id}/1.0`,
};
