import type { HintDevice } from '../device.ts'
import { GPU, NIC } from '../watch/signals.ts'
import { type Look, SHORT_BASE_LEAST_MS } from './look.ts'
import { firstKnown, maxKnown, median, sumKnown } from './numbers.ts'
import type { Scope } from './scope.ts'

// Whether there is work: what stands still on an idle node is no fault.

/** A window holds two minutes; work that began earlier and stopped is over. Unit: milliseconds. */
const WORK_MS = 120_000
/** Discovery, subnet managers and address resolution make up to 50 kB/s on an idle port. Unit: bytes per second. */
export const IDLE_BYTES = 1e6
/** SM activity of a GPU that computes. */
const ACTIVE_SHARE = 0.05
/**
 * What shows in bursts is told from one to the next: steps of a job that waits for data have them ten seconds apart.
 * Unit: milliseconds.
 */
export const BETWEEN_BURSTS_MS = 15_000
/** Several steps of training, or a gap between two of them. Unit: milliseconds. */
const STEPS_MS = 30_000
/** What a job in which all GPUs take part sends over its rails, as a share of their line. */
const COLLECTIVE_SHARE = 0.02
/** Work that is left where a GPU counts as slowed. */
const SLOWED_SHARE = 0.9

/** Bytes that a port sent and received, a second: those of RDMA, or of its interface where it has none. */
export function trafficOf(look: Look, overMs: number): number {
  const rdma = sumKnown(look.rate(NIC.sentBytes, overMs), look.rate(NIC.receivedBytes, overMs))
  return firstKnown(rdma, sumKnown(look.rate(NIC.netdevSentBytes, overMs), look.rate(NIC.netdevReceivedBytes, overMs)))
}

/** Whether a NIC has carried more than what an idle one does, of late. */
export function hasTraffic(look: Look): boolean {
  return trafficOf(look, WORK_MS) > IDLE_BYTES
}

/** Whether a GPU has computed of late. */
function hasComputed(look: Look): boolean {
  return look.max(GPU.smActive, WORK_MS) > ACTIVE_SHARE || look.max(GPU.utilisation, WORK_MS) > 100 * ACTIVE_SHARE
}

/** GPUs of the node that take part in work. */
export function workingGpus(scope: Scope): Look[] {
  return scope.once('working', () => scope.gpus.filter(hasComputed))
}

/** Those of them that are whole: what instances of a GPU that MIG splits do is not of one job. */
export function jobGpus(scope: Scope): Look[] {
  return scope.once('job', () => workingGpus(scope).filter((look) => look.last(GPU.migMode) !== 1))
}

/** GPUs, other than the one in hand, that do clearly less tensor work than they used to: they wait for something. */
export function slowedGpus({ scope, device: own }: Look): HintDevice[] {
  const slowed = scope.gpus.filter(
    (look) => look.mean(GPU.tensorActive) < SLOWED_SHARE * look.base(GPU.tensorActive, SHORT_BASE_LEAST_MS),
  )
  return slowed.map(({ device }) => device).filter((device) => device !== own)
}

/** NICs that carry the job: those that belong to a GPU, or all where none does. */
export function jobNics({ rails, nics }: Scope): readonly Look[] {
  return rails.length > 0 ? rails : nics
}

/** What the job sends through a NIC, a second: without the traffic of others, where queue pairs are counted. */
function jobBytes(look: Look, overMs: number): number {
  const own = firstKnown(look.rate(NIC.ownSentBytes, overMs), look.rate(NIC.portRdmaSentBytes, overMs))
  return firstKnown(own, look.rate(NIC.sentBytes, overMs))
}

/** What the job sends on the busiest of the training NICs, as a share of its line; NaN if none tells. */
export function railUse(scope: Scope, overMs: number): number {
  return maxKnown(...scope.rails.map((look) => jobBytes(look, overMs) / lineOf(look)))
}

/** The same of most of them: somebody else's traffic on one rail is not the job's. */
export function usualRailUse(scope: Scope, overMs: number): number {
  return median(scope.rails.map((look) => look.rate(NIC.sentBytes, overMs) / lineOf(look)))
}

/**
 * Whether the job sends as much over its rails as training does: its GPUs wait for one another, and the slow one among
 * them is a straggler.
 */
export function isCollective(scope: Scope): boolean {
  return median(jobNics(scope).map((look) => jobBytes(look, STEPS_MS) / lineOf(look))) > COLLECTIVE_SHARE
}

/** What the busiest of the NICs outside all rails sends to storage. Unit: bytes per second; NaN if there is none. */
export function storageBytes(scope: Scope): number {
  return maxKnown(...scope.nics.filter(({ device }) => device.rail === null).map((look) => look.rate(NIC.sentBytes)))
}

/** Speed of a NIC's link. Unit: bytes per second. Where the port does not tell, that of 400 Gb/s. */
export function lineOf(look: Look): number {
  const told = look.last(NIC.lineRate)
  return told > 0 ? told : 50e9
}
