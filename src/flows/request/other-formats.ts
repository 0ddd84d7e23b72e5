import { hasConsolidated } from "../../hierarchy/consolidated.ts";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { inOtherFormat, otherFormatName } from "../../hierarchy/other-format.ts";
import type { OtherFormat } from "../../plan/request.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { JsonObject } from "../../util/json-value.ts";

/** True if a node also has documents of another format. */
export function hasOtherFormat({ findings }: ZarrNode): boolean {
  return findings.some(({ kind }) => kind === "other-format");
}

/**
 * Finds the nodes that also have documents of the other format, with the attributes stated there.
 *
 * @throws `invalid-option` if the flow converts to another format; as `openNode`.
 */
export async function otherFormatOf(
  root: ZarrArray | ZarrGroup,
  nodes: readonly ZarrNode[],
  {
    isConverted,
    concurrency,
    signal,
  }: {
    readonly isConverted: boolean;
    readonly concurrency: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<OtherFormat | undefined> {
  if (isConverted) {
    throw new ZarrflowError(
      "invalid-option",
      "the documents of one format only are written in a conversion",
      {
        path: root.path,
        hint: "Omit --keep-formats (in code keepFormats), or --to.",
      },
    );
  }
  const name = otherFormatName(root.layout.zarrFormat);
  if (name === undefined) return undefined;
  const [found, consolidated] = [new Map<string, JsonObject>(), new Set<string>()];
  const lookAt = async (node: ZarrNode, context: { readonly signal: AbortSignal }) => {
    const other = await inOtherFormat(node, context);
    if (other === undefined) return;
    const { path } = node;
    found.set(path, other.metadata.attributes);
    if (other.kind === "group" && (await hasConsolidated(other, context.signal))) consolidated.add(path);
  };
  await forEachConcurrent(nodes, lookAt, { concurrency, signal });
  return { name, nodes: found, consolidated };
}
