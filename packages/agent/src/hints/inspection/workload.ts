import type { HintDevice } from '../device.ts'
import { GPU, NIC } from '../watch/signals.ts'
import { type Inspection, SHORT_BASE_LEAST_MS } from './inspection.ts'
import { firstKnown, maxKnown, median, sumKnown } from './numbers.ts'
import type { Scope } from './scope.ts'

// Whether the node works. A standstill on an idle node is not a fault.

/** A window has two minutes. Work that stopped earlier is over. Unit: milliseconds. */
const WORK_MS = 120_000
/**
 * Traffic of discovery, subnet managers and address resolution stays below 50 kB/s on an idle port. Unit: bytes per
 * second.
 */
export const IDLE_BYTES = 1e6
/** Least SM activity of a computing GPU. */
const ACTIVE_SHARE = 0.05
/**
 * A fault that shows in bursts stays open between two bursts. A job that waits for data has steps ten seconds apart.
 * Unit: milliseconds.
 */
export const BETWEEN_BURSTS_MS = 15_000
/** Several steps of training, or a gap between two of them. Unit: milliseconds. */
const STEPS_MS = 30_000
/** Least traffic of a job with collectives over all GPUs on its rails, as a share of the line rate. */
const COLLECTIVE_SHARE = 0.02
/** A GPU with less than this share of its work counts as slowed. */
const SLOWED_SHARE = 0.9

/** Bytes per second that a port sent and received: those of RDMA, or of its interface without RDMA. */
export function portTraffic(inspection: Inspection, overMs: number): number {
  const rdma = sumKnown(inspection.rate(NIC.sentBytes, overMs), inspection.rate(NIC.receivedBytes, overMs))
  return firstKnown(
    rdma,
    sumKnown(inspection.rate(NIC.netdevSentBytes, overMs), inspection.rate(NIC.netdevReceivedBytes, overMs)),
  )
}

/** Whether a NIC recently carried more traffic than an idle NIC. */
export function hasTraffic(inspection: Inspection): boolean {
  return portTraffic(inspection, WORK_MS) > IDLE_BYTES
}

/** Whether a GPU recently computed. */
function hasComputed(inspection: Inspection): boolean {
  return (
    inspection.max(GPU.smActive, WORK_MS) > ACTIVE_SHARE ||
    inspection.max(GPU.utilisation, WORK_MS) > 100 * ACTIVE_SHARE
  )
}

/** GPUs of the node that recently computed. */
export function workingGpus(scope: Scope): Inspection[] {
  return scope.once('working', () => scope.gpus.filter(hasComputed))
}

/** Working GPUs without MIG. The MIG instances of a GPU do not share one job. */
export function jobGpus(scope: Scope): Inspection[] {
  return scope.once('job', () => workingGpus(scope).filter((inspection) => inspection.last(GPU.migMode) !== 1))
}

/** Other GPUs that do clearly less tensor work than before, because they wait. */
export function slowedGpus({ scope, device: own }: Inspection): HintDevice[] {
  const slowed = scope.gpus.filter(
    (inspection) =>
      inspection.mean(GPU.tensorActive) < SLOWED_SHARE * inspection.base(GPU.tensorActive, SHORT_BASE_LEAST_MS),
  )
  return slowed.map(({ device }) => device).filter((device) => device !== own)
}

/** NICs of the job: those that belong to a GPU, or all NICs if none does. */
export function jobNics({ rails, nics }: Scope): readonly Inspection[] {
  return rails.length > 0 ? rails : nics
}

/** Bytes per second that the job sends through a NIC. Traffic of others is excluded if queue pairs are counted. */
function jobBytes(inspection: Inspection, overMs: number): number {
  const own = firstKnown(inspection.rate(NIC.ownSentBytes, overMs), inspection.rate(NIC.portRdmaSentBytes, overMs))
  return firstKnown(own, inspection.rate(NIC.sentBytes, overMs))
}

/** The job's traffic on the busiest training NIC, as a share of the line rate; NaN if unknown. */
export function railUse(scope: Scope, overMs: number): number {
  return maxKnown(...scope.rails.map((inspection) => jobBytes(inspection, overMs) / lineBytes(inspection)))
}

/**
 * The median of all traffic on the training NICs, as a share of the line rate. Foreign traffic on one rail does not
 * change it.
 */
export function usualRailUse(scope: Scope, overMs: number): number {
  return median(scope.rails.map((inspection) => inspection.rate(NIC.sentBytes, overMs) / lineBytes(inspection)))
}

/**
 * Whether the rails carry as much traffic as training needs. Then the GPUs wait for one another, and the slow GPU is a
 * straggler.
 */
export function isCollective(scope: Scope): boolean {
  return (
    median(jobNics(scope).map((inspection) => jobBytes(inspection, STEPS_MS) / lineBytes(inspection))) >
    COLLECTIVE_SHARE
  )
}

/** Bytes per second that the busiest NIC outside the rails sends to storage; NaN if there is none. */
export function storageBytes(scope: Scope): number {
  return maxKnown(
    ...scope.nics.filter(({ device }) => device.rail === null).map((inspection) => inspection.rate(NIC.sentBytes)),
  )
}

/** Speed of a NIC's link. Unit: bytes per second. Default: 400 Gb/s, if the port does not report it. */
export function lineBytes(inspection: Inspection): number {
  const told = inspection.last(NIC.lineRate)
  return told > 0 ? told : 50e9
}
