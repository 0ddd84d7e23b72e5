import { movedKey } from "../../meta/folder-layout.ts";
import { missingAncestors, sharedDocuments } from "./ancestor-metadata.ts";
import { type ChosenJob, JobChooser, sizedJobs } from "./array-jobs.ts";
import { driverOf, executionOf } from "./execution.ts";
import type { HierarchyPlanRequest } from "./hierarchy-request.ts";
import { documentsOfOtherFormat } from "./other-formats.ts";
import type { Plan } from "./plan.ts";
import { depthOf, inPublishingOrder, type NodeDocuments, plannedDocuments } from "./planned-documents.ts";
import { targetNode } from "./target-metadata.ts";
import { assertDistinctNames, targetPath } from "./target-path.ts";
import { largestTask, totalsOf } from "./totals.ts";

/** Concurrent tasks of a single thread. More than this do not improve the overlap of codecs with input and output. */
const TASKS_AT_ONCE = 3;

/**
 * Plans a node and everything below it: a job for each array, and the documents to publish at the end. Reads and
 * writes nothing.
 *
 * @throws `budget-too-small`, `unsupported-codec`, `loss-refused`.
 */
export async function planHierarchy(request: HierarchyPlanRequest): Promise<Plan> {
  const { nodes, source, target, zarrFormat, maxMemory, threads = 1, profiles = {} } = request;
  const driver = driverOf(request);
  const tasksAtOnce = driver === "loop" ? threads : Math.max(threads, TASKS_AT_ONCE);
  const chooser = new JobChooser({ ...request, driver, tasksAtOnce });
  const chosen: ChosenJob[] = [];
  const documents: NodeDocuments[] = [];
  assertDistinctNames(
    nodes.map(({ path }) => targetPath(path, source.path, target.path)),
    zarrFormat,
  );
  const placed = nodes.map((node) => ({
    node,
    path: targetPath(node.path, source.path, target.path),
    ...targetNode(node, request),
  }));
  const ofOtherFormat = documentsOfOtherFormat(
    placed.map(({ node, ...rest }) => ({ ...rest, from: node.path })),
    request,
  );
  for (const { node, path, metadata, change, isChanged } of placed) {
    if (node.metadata.kind === "array" && metadata.kind === "array") {
      const array = { path, zarrFormat: zarrFormat.name, metadata };
      chosen.push(await chooser.choose(node, node.metadata, array, change));
    }
    documents.push({
      depth: depthOf(path),
      group: metadata.kind === "group",
      documents: [
        ...(ofOtherFormat.get(path) ?? []),
        ...plannedDocuments(node, metadata, { ...request, layout: zarrFormat.layout(path), isChanged }),
      ],
    });
  }
  for (const node of request.copied ?? []) {
    const path = targetPath(node.path, source.path, target.path);
    const [from, to] = [zarrFormat.layout(node.path), zarrFormat.layout(path)];
    const keys = from.documentKeys.filter((key) => node.documents.has(key));
    const copied = keys.map((key) => ({ key: movedKey(key, from, to), from: key }));
    documents.push({ depth: depthOf(path), group: false, documents: copied });
  }
  const { jobs, stages, held } = sizedJobs(chosen, request);
  const leaseBytes = largestTask(jobs);
  const from = nodes[0]?.layout.zarrFormat ?? zarrFormat.name;
  const ancestors = missingAncestors(target.path, zarrFormat);
  const totals = totalsOf(jobs, stages, held, { ...request, tasksAtOnce });
  return {
    format: "zarrflow-plan/1",
    operation: request.operation,
    source,
    target,
    ...(request.scratch && { scratch: request.scratch }),
    budget: { maxMemory, leaseBytes },
    execution: executionOf(request, {
      driver,
      tasksAtOnce,
      jobs,
      admitted: Math.floor((maxMemory - held) / Math.max(1, leaseBytes)),
      totals,
    }),
    jobs,
    stages,
    ...(Object.keys(profiles).length > 0 && { profiles }),
    publication: {
      zarrFormat: zarrFormat.name,
      from,
      documents: [...sharedDocuments(from, zarrFormat), ...inPublishingOrder(documents), ...ancestors],
      consolidate: consolidatedTargets(request),
      copyKeys: request.copyKeys,
    },
    totals,
    warnings: request.converted?.warnings ?? [],
  };
}

function consolidatedTargets({ changed, consolidated, source, target }: HierarchyPlanRequest): string[] {
  if (!changed) return [];
  const paths = consolidated.map((path) => targetPath(path, source.path, target.path));
  return paths.sort((a, b) => depthOf(b) - depthOf(a));
}
