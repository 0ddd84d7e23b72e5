import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Job, UnrecoverableError, WaitingChildrenError } from "bullmq";
import { beforeAll, describe, expect, test } from "vitest";
import type { Connection } from "../../src/bullmq/connection.ts";
import { endRun } from "../../src/bullmq/end-run.ts";
import {
  failureOf,
  jobCounts,
  RUN,
  type RunData,
  reasonOf,
  runId,
  SHARE,
  shareId,
  shareJobs,
} from "../../src/bullmq/job-data.ts";
import type { PlanFile } from "../../src/flows/jobs/plan-file.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { type RunReport, ZarrflowError } from "../../src/index.ts";
