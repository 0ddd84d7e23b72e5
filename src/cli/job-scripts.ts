import { commandLine } from "./text/failure.ts";

export const SCRIPTS = ["slurm", "k8s", "batch", "parallel"] as const;

interface JobScript {
  /** Absolute path of the plan. */
  readonly plan: string;
  readonly stages: number;
  /** Number of jobs of each stage. */
  readonly count: number;
  /** Bytes of each job's buffers. */
  readonly maxMemory: number;
  readonly threads: number;
  /** True if the plan names modules that compute values, and the jobs may run them. */
  readonly hasMap: boolean;
}

/** Bytes of a process besides its buffers. */
const PROCESS_BYTES = 300 * 1024 ** 2;

/** Returns a bash script that runs a plan on an engine: an array job for each stage, then `finish`. */
export function jobScript(engine: (typeof SCRIPTS)[number], job: JobScript): string {
  const plan = commandLine([job.plan]).replace(/^zarrflow /, "");
  const mebibytes = Math.ceil((job.maxMemory + PROCESS_BYTES) / 1024 ** 2);
  const head = `set -euo pipefail
plan=${plan}
zarrflow=\${ZARRFLOW:-zarrflow}
`;
  const trust = job.hasMap ? " --trust-map" : "";
  const stages = Array.from({ length: job.stages }, (_, stage) => stage + 1).join(" ");
  return { slurm, k8s, batch, parallel }[engine](head, { ...job, list: stages, mebibytes, trust });
}

interface Filled extends JobScript {
  /** The numbers of the stages. */
  readonly list: string;
  /** Memory of a job, in MiB. */
  readonly mebibytes: number;
  /** The flag that allows a job to run the modules of the plan. */
  readonly trust: string;
}

function slurm(head: string, { list, count, threads, mebibytes, trust }: Filled): string {
  return `#!/bin/bash
# Submits array jobs to SLURM, each stage after the one before, and the job that finishes. Run it where sbatch is.
# Partition, time limit and account are taken from SBATCH_PARTITION, SBATCH_TIMELIMIT and SBATCH_ACCOUNT.
# To run some tasks again: sbatch --array=3,5 with the script of their stage.
${head}
after=()
for stage in ${list}; do
  job=$(sbatch --parsable "\${after[@]}" --job-name="zarrflow-$stage" --array=0-${count - 1} --requeue --open-mode=append \\
    --cpus-per-task=${threads} --mem=${mebibytes}M --signal=B:TERM@60 <<EOF
#!/bin/bash
$zarrflow run $(printf %q "$plan") --stage $stage --task-index "\\$SLURM_ARRAY_TASK_ID" --task-count ${count}${trust} &
pid=\\$!
trap 'kill -TERM "\\$pid"' TERM
wait "\\$pid"
code=\\$?
if [ "\\$code" -gt 128 ] && kill -0 "\\$pid" 2> /dev/null; then
  wait "\\$pid"
  code=\\$?
fi
if { [ "\\$code" -eq 75 ] || [ "\\$code" -eq 5 ] || [ "\\$code" -eq 137 ]; } && [ "\\\${SLURM_RESTART_COUNT:-0}" -lt 20 ]; then
  scontrol requeue "\\\${SLURM_ARRAY_JOB_ID}_\\\${SLURM_ARRAY_TASK_ID}"
  sleep 60
fi
exit "\\$code"
EOF
  )
  after=(--dependency="afterok:\${job%%;*}")
done
sbatch --parsable "\${after[@]}" --job-name=zarrflow-finish --cpus-per-task=1 --mem=${mebibytes}M <<EOF
#!/bin/bash
exec $zarrflow finish $(printf %q "$plan")${trust}
EOF
`;
}

function parallel(head: string, { list, count, trust }: Filled): string {
  return `#!/bin/bash
# Runs the plan on this machine with GNU parallel; JOBS says how many processes run at one time.
${head}
for stage in ${list}; do
  seq 0 ${count - 1} | parallel --jobs "\${JOBS:-100%}" --retries 3 --halt soon,fail=1 \\
    "$zarrflow" run "$plan" --stage "$stage" --task-index {} --task-count ${count}${trust}
done
"$zarrflow" finish "$plan"${trust}
`;
}

function batch(head: string, { list, count, trust }: Filled): string {
  const trusting = trust && `,\\\\"${trust.trim()}\\\\"`;
  const array = count > 1 ? ` \\\n    --array-properties size=${count}` : "";
  const share = count > 1 ? "" : '"--task-index","0","--task-count","1",';
  return `#!/bin/bash
# Submits array jobs to AWS Batch, each stage after the one before, and the job that finishes. Their container must have
# zarrflow, and reach the plan under its path here (EFS), or under PLAN.
: "\${QUEUE:?name a job queue}" "\${DEFINITION:?name a job definition}"
${head}plan=\${PLAN:-$plan}
retry='{"attempts":10,"evaluateOnExit":[{"onExitCode":"75","action":"RETRY"},{"onExitCode":"5","action":"RETRY"},{"onStatusReason":"Host EC2*","action":"RETRY"},{"onExitCode":"*","action":"EXIT"}]}'

after=()
for stage in ${list}; do
  job=$(aws batch submit-job --job-name "zarrflow-$stage" --job-queue "$QUEUE" --job-definition "$DEFINITION"${array} \\
    "\${after[@]}" --retry-strategy "$retry" --query jobId --output text \\
    --container-overrides "{\\"command\\":[\\"$zarrflow\\",\\"run\\",\\"$plan\\",${share.replaceAll('"', '\\"')}\\"--stage\\",\\"$stage\\"${trusting}]}")
  after=(--depends-on "jobId=$job")
done
aws batch submit-job --job-name zarrflow-finish --job-queue "$QUEUE" --job-definition "$DEFINITION" \\
  "\${after[@]}" --query jobId --output text \\
  --container-overrides "{\\"command\\":[\\"$zarrflow\\",\\"finish\\",\\"$plan\\"${trusting}]}"
`;
}

function k8s(head: string, { list, count, threads, mebibytes, trust }: Filled): string {
  return `#!/bin/bash
# Runs the plan as Indexed Jobs of Kubernetes, each stage after the one before, and a Job that finishes. IMAGE must have
# zarrflow. CLAIM names a volume claim that all pods mount at MOUNT, where targets, sources and scratch objects are
# folders; SECRET one with the variables of credentials. A plan of more than 1 MB goes into the volume (PLAN).
: "\${IMAGE:?name an image with zarrflow}" "\${MOUNT:=/data}" "\${CLAIM:=}" "\${SECRET:=}" "\${PLAN:=/plan/plan.json}"
${head}name=zarrflow-$(date +%s)
if [ "$PLAN" = /plan/plan.json ]; then kubectl create configmap "$name" --from-file=plan.json="$plan"; fi

environment= mount= volume=
if [ -n "$SECRET" ]; then environment="          envFrom:
            - secretRef:
                name: $SECRET"; fi
if [ -n "$CLAIM" ]; then
  mount="            - name: data
              mountPath: $MOUNT"
  volume="        - name: data
          persistentVolumeClaim:
            claimName: $CLAIM"
fi

apply() { # NAME COUNT ARGUMENTS...
  local job=$1 pods=$2
  shift 2
  kubectl apply -f - <<EOF
apiVersion: batch/v1
kind: Job
metadata:
  name: $job
spec:
  completions: $pods
  parallelism: $pods
  completionMode: Indexed
  backoffLimit: 100
  podFailurePolicy:
    rules:
      - action: Ignore
        onExitCodes:
          containerName: zarrflow
          operator: In
          values: [75]
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: zarrflow
          image: $IMAGE
          command: [$(printf '"%s", ' "$zarrflow" "$@" | sed 's/, $//')]
          resources:
            requests:
              cpu: "${threads}"
              memory: ${mebibytes}Mi
            limits:
              memory: ${mebibytes}Mi
$environment
          volumeMounts:
            - name: plan
              mountPath: /plan
$mount
      volumes:
        - name: plan
          configMap:
            name: $name
            optional: true
$volume
EOF
  kubectl wait --for=condition=complete --timeout=-1s "job/$job"
}

for stage in ${list}; do
  apply "$name-$stage" ${count} run "$PLAN" --stage "$stage" --task-count ${count}${trust}
done
apply "$name-finish" 1 finish "$PLAN"${trust}
`;
}
