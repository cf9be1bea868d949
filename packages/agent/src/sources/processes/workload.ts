import { OF_CGROUP, OF_ENVIRONMENT, OF_JOB_FILES } from '../pods/evidence.ts'
import type { CgroupOwner } from './cgroup-owner.ts'

/** Ways in which the owner of a device becomes known from processes and jobs, for `via` of records. */
export const VIA = {
  cgroup: OF_CGROUP.via,
  environment: OF_ENVIRONMENT.via,
  jobFiles: OF_JOB_FILES.via,
} as const

/**
 * The owner of processes, as pods are named. No namespace of Kubernetes contains `@`: `@job` has jobs of Slurm and
 * other batch systems, `@docker` and other runtimes have containers without a pod, `@systemd` services, `@user` logins
 * by their number, and `@pod` pods that are known only by their UID.
 */
export interface Workload {
  readonly namespace: string
  readonly pod: string
  /** Name of the container; empty if it is unknown. */
  readonly container: string
  /** How it became known: a value of {@link VIA}. */
  readonly via: string
}

/** A pod and the name of a container in it. */
export interface NamedContainer {
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

/** Finds the name of a pod; undefined if it is unknown. */
export type FindPod = (uid: string, container: string) => NamedContainer | undefined

/** Digits of a container's id that tools show. */
const SHORT_ID = 12
const JOB_ID = /^\d{1,10}$/

/** The job of an id. */
export function jobWorkload(job: string, via: string): Workload {
  return { namespace: '@job', pod: job, container: '', via }
}

/**
 * The workload of a process; undefined if nothing names it.
 *
 * @param owner What the control groups prove.
 * @param claimedJob The Slurm job that the process names in its environment; empty if it names none. It counts only if
 * the control groups name neither a pod, nor a container, nor a job id.
 */
export function workloadOfProcess(
  owner: CgroupOwner | undefined,
  claimedJob: string,
  findPod: FindPod,
): Workload | undefined {
  if (owner?.kind === 'pod') {
    const named = findPod(owner.id, owner.container)
    return { ...(named ?? { namespace: '@pod', pod: owner.id, container: '' }), via: VIA.cgroup }
  }
  if (owner?.kind === 'container') {
    const isHash = /^[0-9a-f]{64}$/.test(owner.id)
    const pod = isHash ? owner.id.slice(0, SHORT_ID) : owner.id
    return { namespace: `@${owner.runtime || 'container'}`, pod, container: '', via: VIA.cgroup }
  }
  if (owner?.kind === 'slurm' && owner.id !== '') return jobWorkload(owner.id, VIA.cgroup)
  if (JOB_ID.test(claimedJob)) return jobWorkload(claimedJob, VIA.environment)
  if (owner?.kind === 'service') return { namespace: '@systemd', pod: owner.id, container: '', via: VIA.cgroup }
  if (owner?.kind === 'user') return { namespace: '@user', pod: owner.id, container: '', via: VIA.cgroup }
  return undefined
}

/** Whether the environment of a process may say more than its control groups. */
export function mayClaimJob(owner: CgroupOwner | undefined): boolean {
  return (
    owner === undefined ||
    owner.kind === 'user' ||
    owner.kind === 'service' ||
    (owner.kind === 'slurm' && owner.id === '')
  )
}

/** The app of a workload; empty if the labels of its pod decide. */
export function appOf({ namespace }: Pick<Workload, 'namespace'>): string {
  return namespace.startsWith('@') && namespace !== '@pod' ? namespace.slice(1) : ''
}
