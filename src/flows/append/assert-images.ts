import type { ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { imageAbove } from "../../hierarchy/open/image-above.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { walk } from "../../hierarchy/open/walk.ts";
import { isObject, member } from "../../meta/assert-json.ts";
import { omeOf } from "../../meta/conventions/ome/attributes.ts";
import { axisOfType, multiscalesOf } from "../../meta/conventions/ome/multiscales.ts";
import { joinKey } from "../../meta/join-key.ts";
import { wholeNumber } from "../../util/decimal.ts";
import { ZarrflowError } from "../../util/errors.ts";

/**
 * Checks that an append keeps the images of a target consistent: all levels of an image grow, with its labels, and none
 * grows along channels that the image describes.
 *
 * @returns true if there are images
 * @throws `unsupported-operation` for a single level, and for described channels
 */
export async function assertImagesStay(
  target: ZarrNode,
  dim: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (target.kind === "group") {
    let hasImages = false;
    const lookAt = (group: ZarrGroup) => {
      assertNoChannels(group, dim);
      hasImages ||= multiscalesOf(group.metadata.attributes).length > 0;
    };
    lookAt(target);
    for await (const node of walk(target, { signal })) if (node.kind === "group") lookAt(node);
    return hasImages;
  }
  const above = await imageAbove(target, signal);
  if (above === undefined) return false;
  const { group, image } = above;
  const { zarrFormat } = group.layout;
  const labels = joinKey(group.path, "labels");
  const others = [
    ...(image.levels.length > 1 ? ["levels"] : []),
    ...((await openNode(group.store, labels, { spec: group.spec, zarrFormat, signal })) ? ["labels"] : []),
  ];
  if (others.length === 0) {
    assertNoChannels(group, dim);
    return true;
  }
  throw new ZarrflowError(
    "unsupported-operation",
    `the target is one level of an image, whose other ${others.join(" and ")} would stay shorter`,
    { path: target.path, hint: "Append an image to the image: name the groups that hold the levels." },
  );
}

function assertNoChannels({ path, metadata: { attributes } }: ZarrGroup, dim: string): void {
  const omero = member(omeOf(attributes)?.metadata ?? {}, "omero");
  const channels = isObject(omero) ? member(omero, "channels") : undefined;
  const grows = multiscalesOf(attributes).some((image) => {
    const c = axisOfType(image, "channel");
    return c >= 0 && (dim === image.axes?.[c] || wholeNumber(dim) === c);
  });
  if (!grows || !Array.isArray(channels) || channels.length === 0) return;
  throw new ZarrflowError(
    "unsupported-operation",
    "the image describes its channels, and an append would add some that it does not describe",
    { path, hint: "Remove `omero` from its metadata first (in code setAttributes)." },
  );
}
