import { bandwidthOf, GENERATION_TRANSFERS_PER_SECOND } from '../../pci/bandwidth.ts'
import type { GpuPlace, NicPlace, NodeClass } from '../classes/node-class.ts'
import type { Combined, CombinedGpu, CombinedNic } from './combine.ts'
import { deviceKey, normal, STREAM } from './hash.ts'
import { ACTIVITIES, SHARE, STEP_S, wantedWatts } from './phases.ts'

/** Bytes of user data in a packet. */
export const PACKET_BYTES = 4096
/** Packets that a sender sends again for each lost packet: all packets in flight. */
export const RESENT_PACKETS = 230
/** Share of losses at the end of a message, which only a timer detects. */
export const TAIL_SHARE = 0.025
/** Mean duration of such a timer. Unit: seconds. */
const TAIL_S = 0.01
/** Share of line rate at which a rail sends in bursts, and the largest fill of its window. */
const BURST_SHARE = 0.8
const FILL_LIMIT = 0.92
/** Start of communication within the backward pass. */
const BURST_START = 0.15
/** Busy time of a rail in a healthy step, as a share of its window. */
const BURST_DUTY = 0.72
/** Time to load the data for the next step. Unit: seconds. */
const STORAGE_BUSY_S = 0.4
/** Ratio of PCIe bytes to bytes of user data. */
export const PCIE_OVERHEAD = 1.06

/** Speed of the job: the lengths of the parts of a step. */
export interface Pace {
  readonly stepS: number
  readonly dataS: number
  readonly collectiveS: number
  /** Additional communication time in which every GPU waits. */
  readonly stalledS: number
  /** Compute time of each GPU and of the slowest, forward and backward together. */
  readonly computeS: readonly number[]
  readonly slowestS: number
  readonly windowStartS: number
  readonly windowEndS: number
  readonly rails: readonly RailPace[]
}

/** Time that a rail needs for the bytes of a step. */
export interface RailPace {
  readonly txBusyS: number
  readonly rxBusyS: number
  /** Whether anything besides the job limits it. */
  readonly isLimited: boolean
}

/** Clock of each GPU relative to its normal clock; 1 if nothing slows it down. */
export type Slowdown = readonly number[]

/** User data of a rail in a healthy step. Unit: packets. */
export function packetsPerStep({ model }: NicPlace): number {
  const windowS = STEP_S * (SHARE.backward * (1 - BURST_START) + SHARE.collective)
  return Math.round((model.speedBytesPerS * BURST_SHARE * windowS * BURST_DUTY) / PACKET_BYTES)
}

/** Compute time of each GPU in a healthy step; chips differ. The slowest GPU determines the length of the step. */
function healthyComputeS(seed: number, gpus: readonly GpuPlace[]): number[] {
  const factors = gpus.map(({ index }) => 1 + 0.01 * normal(seed, STREAM.device, deviceKey('gpu', index), 0))
  const slowest = Math.max(...factors, 0)
  return factors.map((factor) => (STEP_S * (SHARE.forward + SHARE.backward) * factor) / slowest)
}

/** Computes the speed of the job from the effects and the slowdown of each GPU. */
export function paceOf(seed: number, node: NodeClass, { job, gpus, nics }: Combined, slowdown: Slowdown): Pace {
  const computeS = healthyComputeS(seed, node.gpus).map((seconds, index) => {
    const { computeFactor = 1 } = gpus[index] as CombinedGpu
    return (seconds * computeFactor) / (slowdown[index] ?? 1)
  })
  const slowestS = Math.max(...computeS, STEP_S * 0.01)
  const dataS = STEP_S * SHARE.data + job.dataWaitS
  const collectiveS = STEP_S * SHARE.collective
  const backwardShare = SHARE.backward / (SHARE.forward + SHARE.backward)
  const windowStartS = dataS + slowestS * (1 - backwardShare * (1 - BURST_START))
  const freeS = dataS + slowestS + collectiveS - windowStartS
  const rails = node.nics.map((nic, index) => railPace(nic, nics[index] as CombinedNic, gpus[index]))
  const needS = Math.max(0, ...rails.map(({ txBusyS, rxBusyS }) => Math.max(txBusyS, rxBusyS))) / FILL_LIMIT
  const stalledS = Math.max(0, needS - freeS) + job.exposedS
  const windowEndS = dataS + slowestS + stalledS + collectiveS
  const stepS = windowEndS + STEP_S * SHARE.optimizer
  return { stepS, dataS, collectiveS, stalledS, computeS, slowestS, windowStartS, windowEndS, rails }
}

function railPace(nic: NicPlace, effect: CombinedNic, gpu: CombinedGpu | undefined): RailPace {
  if (nic.role !== 'training') return { txBusyS: STORAGE_BUSY_S, rxBusyS: STORAGE_BUSY_S, isLimited: true }
  const { speedBytesPerS } = nic.model
  const wanted = BURST_SHARE * speedBytesPerS
  const lineBytesPerS = speedBytesPerS * (effect.speedShare ?? 1) * (PACKET_BYTES / (PACKET_BYTES + 82))
  const pcie = Math.min(pcieLimit(nic.model.pcieGeneration, effect), pcieLimit(5, gpu ?? {}))
  const ceiling = effect.burstBytesPerS ?? Number.POSITIVE_INFINITY
  // Pauses are for the priority of RDMA.
  const pausedShare = effect.isUnguarded ? 0 : (effect.rxPausedShare ?? 0)
  const tx = Math.min(
    wanted,
    0.95 * lineBytesPerS * (1 - pausedShare),
    0.95 * lineBytesPerS - (effect.neighbourBytesPerS ?? 0),
    ceiling,
    pcie,
  )
  const rxOther = effect.rxOtherBytesPerS ?? 0
  // A port with many senders is saturated. A port without other senders keeps some capacity free.
  const fullShare = rxOther > 0 ? 0.985 : 0.95
  const room = fullShare * lineBytesPerS * (1 - Math.min(0.98, effect.txPausedShare ?? 0)) - rxOther
  const rx = Math.min(wanted, room, ceiling, pcie - rxOther)
  const bytes = packetsPerStep(nic) * PACKET_BYTES
  const lost = (effect.lossShare ?? 0) * packetsPerStep(nic)
  const resentBytes = lost * RESENT_PACKETS * PACKET_BYTES
  const throttled = 1 - 0.4 * Math.min(1, 10 * (effect.throttledShare ?? 0))
  return {
    txBusyS: (bytes + resentBytes) / (Math.max(tx, speedBytesPerS / 1000) * throttled) + lost * TAIL_SHARE * TAIL_S,
    rxBusyS: bytes / Math.max(rx, speedBytesPerS / 1000),
    isLimited: Math.min(tx, rx) < wanted,
  }
}

/** Capacity of a PCIe link for user data, per second. */
function pcieLimit(generation: number, effect: { pcieGeneration?: number; pcieWidth?: number }): number {
  return (0.885 * pcieBytesPerS(effect.pcieGeneration ?? generation, effect.pcieWidth ?? 16)) / PCIE_OVERHEAD
}

/** Bytes per second and direction of a PCIe link, without line coding. */
export function pcieBytesPerS(generation: number, lanes: number): number {
  return bandwidthOf(GENERATION_TRANSFERS_PER_SECOND[generation - 1], lanes) ?? Number.NaN
}

/** Slowdown of compute by a power limit: the clock follows power to the power of 1/2.4. */
export function slowdownByLimit({ model }: GpuPlace, limitWatts: number): number {
  return Math.min(1, (limitWatts / wantedWatts(ACTIVITIES.backward, model)) ** (1 / 2.4))
}
