import type { NicPlace } from '../classes/node-class.ts'
import { bitErrorRate, laneShare } from './bit-errors.ts'
import type { CombinedJob, CombinedNic } from './combine.ts'
import { deviceKey, STREAM, uniform } from './hash.ts'
import { PACKET_BYTES, type Pace, packetsPerStep, type RailPace, RESENT_PACKETS, TAIL_SHARE } from './pace.ts'
import { SLOT_S } from './phases.ts'
import { BASIS, BASIS_COUNT, NIC_COUNT, NIC_QUANTITIES } from './quantities.ts'
import type { NicSegment, Segment } from './segment.ts'

/** Rates of a healthy port, assumed from published values. */
const HEALTHY = {
  /** Packets per second of protocols other than RDMA: discovery, address resolution, monitoring. */
  managementPerS: 120,
  /** Acknowledgements per data packet. */
  ackShare: 1 / 24,
  /** Packets with a congestion mark, in bursts. */
  markedShare: 0.0008,
  /** Share of time in which others pause the port, in bursts, and the mean length of a pause in seconds. */
  pausedShare: 0.004,
  pauseS: 25e-6,
  /** With adaptive routing packets arrive out of order. */
  outOfSequenceShare: 2e-5,
  /** PCIe stalls, in bursts. */
  stalledShare: 0.02,
  readLatencyS: 1.05e-6,
  cacheMissShare: 0.006,
  /** Data packets per request. */
  packetsPerRequest: 32,
  /** Queue pairs that retry while a link is down, and their rate. */
  queuePairs: 64,
  retryS: 4.29,
  storageRxBytesPerS: 0.35e9,
  storageTxBytesPerS: 0.04e9,
  /** User data of a rail in a slot of inference, as a share of that in a step of training. */
  inferenceShare: 0.006,
} as const

/** Bit errors of each lane. */
const LANES = [NIC_QUANTITIES.lane0, NIC_QUANTITIES.lane1, NIC_QUANTITIES.lane2, NIC_QUANTITIES.lane3]

/** Data packets and acknowledgements that the job sends, on the priority of RDMA and on priority 0. */
const GUARDED = [NIC_QUANTITIES.txData, NIC_QUANTITIES.txAck] as const
const UNGUARDED = [NIC_QUANTITIES.txUnguardedData, NIC_QUANTITIES.txUnguardedAck] as const

/** Longest service of a NIC before the epoch. Unit: seconds. */
const SERVICE_S = 100 * 86_400

/** Growth of a NIC's numbers in a segment. */
export type NicGrowth = Omit<NicSegment, 'base' | 'aer'>

/** Computes the growth of a NIC's numbers. */
export function growthOf(
  seed: number,
  nic: NicPlace,
  { job, effect, pace }: { readonly job: CombinedJob; readonly effect: CombinedNic; readonly pace: Pace },
  segment: Pick<Segment, 'rhythm' | 'state'>,
): NicGrowth {
  const growth = new Float64Array(NIC_COUNT * BASIS_COUNT)
  const rail = pace.rails[nic.index] as RailPace
  const grow = (number: number, by: number, amount: number) => {
    growth[number * BASIS_COUNT + by] = (growth[number * BASIS_COUNT + by] ?? 0) + amount
  }
  const isDown = effect.link === 'down'
  const slot = { txBusyS: SLOT_S * 0.05, rxBusyS: SLOT_S * 0.05, isLimited: true }
  const { txBusyS, rxBusyS, isLimited } = segment.rhythm === 'slots' ? slot : rail
  if (nic.role === 'storage') growStorage(grow, job, segment.rhythm === 'slots' ? SLOT_S : pace.stepS, segment)
  else if (segment.rhythm !== 'none' && !isDown) growTraffic(grow, nic, effect, rail, segment.rhythm)
  if (!isDown) growLink(grow, seed, nic, effect)
  if (isDown && segment.state !== 'idle') {
    grow(NIC_QUANTITIES.ackTimeouts, BASIS.elapsedS, HEALTHY.queuePairs / HEALTHY.retryS)
  }
  growTrouble(grow, effect)
  // Without traffic no buffer fills up.
  if (segment.rhythm !== 'none') growPauses(grow, effect)
  return { effect, growth, txBusyS, rxBusyS, chunkDuty: isLimited ? 1 : 0.85 }
}

type Grow = (number: number, by: number, amount: number) => void

function growTraffic(grow: Grow, nic: NicPlace, effect: CombinedNic, rail: RailPace, rhythm: Segment['rhythm']): void {
  const share = rhythm === 'slots' ? HEALTHY.inferenceShare : 1
  const packets = packetsPerStep(nic) * share
  const lost = packets * (effect.lossShare ?? 0)
  const sent = packets + lost * RESENT_PACKETS
  const [data, ack] = effect.isUnguarded ? UNGUARDED : GUARDED
  grow(data, BASIS.txSteps, sent)
  grow(NIC_QUANTITIES.rxData, BASIS.rxSteps, packets)
  grow(ack, BASIS.rxSteps, packets * HEALTHY.ackShare)
  grow(NIC_QUANTITIES.rxAck, BASIS.txSteps, sent * HEALTHY.ackShare)
  grow(NIC_QUANTITIES.requests, BASIS.rxSteps, packets / HEALTHY.packetsPerRequest)
  grow(NIC_QUANTITIES.lost, BASIS.txSteps, lost)
  grow(NIC_QUANTITIES.tails, BASIS.txSteps, lost * TAIL_SHARE)
  grow(NIC_QUANTITIES.outOfSequence, BASIS.rxSteps, packets * HEALTHY.outOfSequenceShare)
  grow(NIC_QUANTITIES.marked, BASIS.rxSteps, packets * Math.max(HEALTHY.markedShare, effect.markedShare ?? 0))
  const throttled = Math.max(0.5 * HEALTHY.markedShare, effect.throttledShare ?? 0)
  grow(NIC_QUANTITIES.throttled, BASIS.txSteps, packets * throttled)
  grow(NIC_QUANTITIES.deschedules, BASIS.txSteps, packets * throttled * 3)
  const pausedS = HEALTHY.pausedShare * Math.min(rail.txBusyS, 1) * share
  // A switch pauses the priority that fills its buffers, and only if that has flow control.
  const rxPausedS = effect.isUnguarded ? 0 : pausedS
  grow(NIC_QUANTITIES.rxPauseS, BASIS.txSteps, rxPausedS)
  grow(NIC_QUANTITIES.rxPauses, BASIS.txSteps, rxPausedS / HEALTHY.pauseS)
  grow(NIC_QUANTITIES.txPauseS, BASIS.rxSteps, pausedS / 3)
  grow(NIC_QUANTITIES.txPauses, BASIS.rxSteps, pausedS / 3 / HEALTHY.pauseS)
  const others = (effect.rxOtherBytesPerS ?? 0) / PACKET_BYTES
  grow(NIC_QUANTITIES.rxData, BASIS.elapsedS, others)
  grow(ack, BASIS.elapsedS, others * HEALTHY.ackShare)
  grow(NIC_QUANTITIES.requests, BASIS.elapsedS, others / HEALTHY.packetsPerRequest)
  grow(NIC_QUANTITIES.marked, BASIS.elapsedS, others * (effect.markedShare ?? 0))
  const crowd = effect.neighbourBytesPerS === undefined ? 1 : 6
  grow(NIC_QUANTITIES.waitTicks, BASIS.txSteps, 2.4e6 * share * crowd)
  growHostSide(grow, effect, rail, { packets, sent, crowd })
}

/** PCIe and the caches behind it. */
function growHostSide(
  grow: Grow,
  effect: CombinedNic,
  rail: RailPace,
  traffic: { readonly packets: number; readonly sent: number; readonly crowd: number },
): void {
  const isNarrow = effect.pcieGeneration !== undefined || effect.pcieWidth !== undefined
  const stalled = Math.max(isNarrow ? 0.6 : HEALTHY.stalledShare, effect.stalledShare ?? 0)
  grow(NIC_QUANTITIES.stallS, BASIS.rxSteps, stalled * rail.rxBusyS)
  if (stalled > 0.3) grow(NIC_QUANTITIES.stallEvents, BASIS.elapsedS, 1)
  const reads = (traffic.sent * PACKET_BYTES) / 512
  grow(NIC_QUANTITIES.pcieReads, BASIS.txSteps, reads)
  grow(NIC_QUANTITIES.readLatencyS, BASIS.txSteps, reads * HEALTHY.readLatencyS * (isNarrow ? 3.5 : 1))
  const misses = HEALTHY.cacheMissShare * (effect.cacheMissFactor ?? (traffic.crowd > 1 ? 5 : 1))
  growCache(grow, BASIS.txSteps, traffic.sent, misses)
}

/** Data for the next step, read once per step, and data written by a checkpoint. */
function growStorage(
  grow: Grow,
  { storageBytesPerS }: CombinedJob,
  stepS: number,
  { rhythm }: Pick<Segment, 'rhythm'>,
): void {
  const perStep = rhythm === 'none' ? 0 : stepS / PACKET_BYTES
  const rx = HEALTHY.storageRxBytesPerS * perStep
  const tx = HEALTHY.storageTxBytesPerS * perStep
  const written = storageBytesPerS / PACKET_BYTES
  grow(NIC_QUANTITIES.rxData, BASIS.rxSteps, rx)
  grow(NIC_QUANTITIES.txAck, BASIS.rxSteps, rx * HEALTHY.ackShare)
  grow(NIC_QUANTITIES.requests, BASIS.rxSteps, rx / HEALTHY.packetsPerRequest)
  for (const [by, packets] of [
    [BASIS.txSteps, tx],
    [BASIS.elapsedS, written],
  ] as const) {
    const reads = (packets * PACKET_BYTES) / 512
    grow(NIC_QUANTITIES.txData, by, packets)
    grow(NIC_QUANTITIES.rxAck, by, packets * HEALTHY.ackShare)
    grow(NIC_QUANTITIES.pcieReads, by, reads)
    grow(NIC_QUANTITIES.readLatencyS, by, reads * HEALTHY.readLatencyS)
    growCache(grow, by, packets, HEALTHY.cacheMissShare)
  }
}

/** Look-ups in the context cache. Hits and misses are separate, so that their sum never decreases. */
function growCache(grow: Grow, by: number, packets: number, misses: number): void {
  const missShare = Math.min(1, misses)
  grow(NIC_QUANTITIES.cacheHits, by, packets * 1.5 * (1 - missShare))
  grow(NIC_QUANTITIES.cacheMisses, by, packets * 1.5 * missShare)
}

/** Numbers of a link that grow with or without traffic. */
function growLink(grow: Grow, seed: number, { index, model }: NicPlace, effect: CombinedNic): void {
  grow(NIC_QUANTITIES.txManagement, BASIS.elapsedS, HEALTHY.managementPerS)
  grow(NIC_QUANTITIES.rxManagement, BASIS.elapsedS, HEALTHY.managementPerS * 1.1)
  const bitsPerS = model.rawBitsPerS * (effect.speedShare ?? 1)
  grow(NIC_QUANTITIES.bits, BASIS.elapsedS, bitsPerS)
  const errorsPerS = bitsPerS * bitErrorRate(seed, index, effect)
  for (let lane = 0; lane < model.lanes; lane++) {
    grow(LANES[lane] as number, BASIS.elapsedS, errorsPerS * laneShare(lane, model.lanes, effect.worstLane))
  }
}

/** Faults with constant rates. */
function growTrouble(grow: Grow, effect: CombinedNic): void {
  const perS = (number: number, rate: number | undefined) => grow(number, BASIS.elapsedS, rate ?? 0)
  perS(NIC_QUANTITIES.effectiveErrors, effect.effectiveErrorsPerS)
  perS(NIC_QUANTITIES.stormWarnings, effect.stormWarningsPerS)
  perS(NIC_QUANTITIES.stormErrors, effect.stormErrorsPerS)
  perS(NIC_QUANTITIES.discards, effect.discardsPerS)
  perS(NIC_QUANTITIES.txOther, effect.link === 'down' ? 0 : (effect.neighbourBytesPerS ?? 0) / PACKET_BYTES)
}

function growPauses(grow: Grow, { rxPausedShare = 0, txPausedShare = 0 }: CombinedNic): void {
  grow(NIC_QUANTITIES.rxPauseS, BASIS.elapsedS, rxPausedShare)
  grow(NIC_QUANTITIES.rxPauses, BASIS.elapsedS, rxPausedShare * 22_000)
  grow(NIC_QUANTITIES.txPauseS, BASIS.elapsedS, txPausedShare)
  grow(NIC_QUANTITIES.txPauses, BASIS.elapsedS, txPausedShare * 22_000)
  grow(NIC_QUANTITIES.bufferPassed, BASIS.elapsedS, txPausedShare * 900)
}

/** Counts of a NIC before the epoch. Each NIC started at a different time, so totals differ. */
export function countBefore(seed: number, index: number, { base, growth }: NicSegment, stepS: number): void {
  const serviceS = SERVICE_S * (0.2 + uniform(seed, STREAM.device, deviceKey('nic', index), 2))
  for (let i = 0, row = 0; i < NIC_COUNT; i++, row += BASIS_COUNT) {
    const perStep = (growth[row + BASIS.txSteps] as number) + (growth[row + BASIS.rxSteps] as number)
    base[i] = (base[i] as number) + ((growth[row + BASIS.elapsedS] as number) + perStep / stepS) * serviceS
  }
}
