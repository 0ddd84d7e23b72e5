import type { ZarrNode } from "../../hierarchy/node.ts";
import type { ArrayMetadata, NodeMetadata } from "../../meta/array-metadata.ts";
import { formatNamed } from "../../meta/formats.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { NodesInFormat } from "../plan/hierarchy-request.ts";
import { targetNode } from "../plan/target-metadata.ts";
import { recodeTo } from "../request/changes.ts";
import { nodesInFormat } from "../request/converted-nodes.ts";
import type { PyramidOptions } from "./pyramid-options.ts";

/** Translates the source's metadata to the format and compressor of a pyramid. */
export interface TargetTerms {
  /** The metadata of an array of the source. @throws `loss-refused` for what the format cannot represent */
  arrayMetadata(array: ZarrNode): ArrayMetadata;
  readonly rootAttributes: NodeMetadata["attributes"];
  readonly recode: (metadata: ArrayMetadata, path: string) => ArrayMetadata;
  readonly warnings: NodesInFormat["warnings"];
}

/** @param nodes the root of the source, and those of its arrays that the pyramid contains */
export function targetTerms(
  nodes: readonly [ZarrNode, ...ZarrNode[]],
  to: "v2" | "v3",
  { codec }: Pick<PyramidOptions, "codec">,
): TargetTerms {
  const [root] = nodes;
  const zarrFormat = formatNamed(to);
  const isSame = root.layout.zarrFormat === to;
  const converted = isSame ? { metadata: new Map(), warnings: [] } : nodesInFormat(nodes, to);
  const arrays = nodes.flatMap(({ path, metadata }) => (metadata.kind === "array" ? { path, metadata } : []));
  const recode = codec === undefined ? (metadata: ArrayMetadata) => metadata : recodeTo(codec, arrays);
  const change = (path: string, metadata: ArrayMetadata) =>
    codec === undefined ? undefined : { metadata: recode(metadata, path) };
  const inTerms = (node: ZarrNode) => targetNode(node, { converted, change, zarrFormat }).metadata;
  return {
    arrayMetadata(array) {
      const metadata = inTerms(array) as ArrayMetadata;
      try {
        zarrFormat.write(metadata, zarrFormat.layout(array.path));
      } catch (error) {
        throw withWayOut(error, to);
      }
      return metadata;
    },
    rootAttributes: inTerms(root).attributes,
    recode,
    warnings: converted.warnings,
  };
}

/** Adds a hint to a refused loss, because a pyramid itself drops nothing. */
function withWayOut(error: unknown, to: "v2" | "v3"): unknown {
  if (!isZarrflowError(error, "loss-refused")) return error;
  const hint = `Convert the source first: \`zarrflow convert SRC DST --to ${to} --allow-loss ${error.details.pointers.join(",")}\`.`;
  return ZarrflowError.like({ ...error, details: { ...error.details, hint } });
}
