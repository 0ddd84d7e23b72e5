import type { ZarrNode } from "../../hierarchy/node.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { pathFilter } from "../../plan/key-filter.ts";
import type { Plan } from "../../plan/plan.ts";
import { targetPath } from "../../plan/request.ts";
import { nearest } from "../../util/node-path.ts";

/** Decides what an update does with the keys of the target. */
export interface TargetKeys {
  /**
   * True if the plan covers this key, whether or not the source has it. An update leaves all other keys unchanged.
   */
  isMeant(key: string): boolean;
  /** True if a key is a chunk of one of the plan's arrays. */
  isChunk(key: string): boolean;
}

/** @param nodes nodes of the target, by path */
export function targetKeys(plan: Plan, nodes: ReadonlyMap<string, ZarrNode>): TargetKeys {
  const { source, target, publication, jobs } = plan;
  const { zarrFormat, leftOut = [], filter = {}, documents } = publication;
  const { nodeOf, pathOf } = formatNamed(zarrFormat).layout(target.path).hierarchy;
  const below = (path: string) => path.slice(target.path.length).replace(/^\//, "");
  const chosen = pathFilter(filter);
  const arrays = new Map(jobs.map((job) => [job.targetPath, job]));
  const taken = new Map([...nodes.keys()].map((path) => [path, chosen?.isTaken(below(path)) !== false]));
  for (const path of leftOut) taken.set(targetPath(path, source.path, target.path), false);
  for (const { key } of documents) taken.set(nodeOf(key) ?? target.path, true);
  const isChunk = (key: string) => {
    const job = nearest(pathOf(key), arrays);
    if (job === undefined) return false;
    const layout = formatNamed(zarrFormat).layout(job.targetPath);
    return layout.parseChunkKey(key, job.target.shape.length, job.target.chunkKeyEncoding) !== undefined;
  };
  return {
    isChunk,
    isMeant(key) {
      if (chosen === undefined) return true;
      const path = nodeOf(key);
      if (path !== undefined) return taken.get(path) !== false;
      if (nearest(pathOf(key), taken) === false) return false;
      return isChunk(key) || chosen.isTaken(below(pathOf(key)));
    },
  };
}

/** Documents of target nodes that the plan does not cover. */
export function otherDocuments({ isMeant }: TargetKeys, nodes: ReadonlyMap<string, ZarrNode>): Documents {
  const all = [...nodes.values()].flatMap(({ documents }) => [...documents]);
  return new Map(all.filter(([key]) => !isMeant(key)));
}
