import { codecSubjects } from "./codec-subjects.ts";
import { documentSubjects } from "./document-subjects.ts";
import { kernelSubjects } from "./kernel-subjects.ts";
import { planSubjects } from "./plan-subjects.ts";
import { runSubjects } from "./run-subjects.ts";
import type { Subject } from "./subject.ts";

/** Every decoder that reads what others may have written. */
export function subjects(): readonly Subject[] {
  return [
    ...codecSubjects(),
    ...kernelSubjects(),
    ...documentSubjects(),
    ...runSubjects(),
    ...planSubjects(),
  ];
}
