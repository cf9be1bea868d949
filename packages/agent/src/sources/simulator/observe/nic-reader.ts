import type { NicPlace } from '../classes/node-class.ts'
import type { NicEffect, NicEventKind } from '../effects.ts'
import { isInBurst } from '../model/bursts.ts'
import { deviceKey, STREAM, uniform } from '../model/hash.ts'
import { bitErrorRate, laneShare } from '../model/nic-segment.ts'
import { Place } from '../model/place.ts'
import { NIC, NIC_COUNT, NIC_FRACTIONS_FROM } from '../model/quantities.ts'
import { rareEvents } from '../model/rare-events.ts'
import type { NicSegment } from '../model/segment.ts'
import { nicNumbers } from '../model/values.ts'
import type { Simulation } from '../simulation.ts'
import { ORIGINS, type Origin, observedAt, rounded, stuckAt } from './origin.ts'
import { PciReader } from './pci-reader.ts'
import { LANE_READ, laneNumber, NIC_READ, PCI_READ } from './readings.ts'

const DAY_S = 86_400
/** Effective bit error rate that a port shows which never saw an error. */
const NO_ERROR_BER = 15e-255
/** Generations of signalling, each with half the rate of the one before. */
const SIGNALLINGS = ['NDR', 'HDR', 'EDR']
/** NICs whose narrow counters stand at their most since long ago. */
const OVERRUN_NIC = 2
const FLAPPED_NIC = 6

/** Reads one NIC: its port, its counters, its module and its PCIe link. */
export class NicReader {
  readonly pci: PciReader
  /** Names of the counters that stand at their most, as of the last read. */
  saturated = ''
  /** Generation of the signalling at which the link runs, as of the last read. */
  signalling = ''
  readonly #simulation: Simulation
  readonly #nic: NicPlace
  readonly #key: number
  readonly #place = new Place()
  readonly #from = new Float64Array(NIC_COUNT)
  readonly #to = new Float64Array(NIC_COUNT)

  constructor(simulation: Simulation, nic: NicPlace) {
    this.#simulation = simulation
    this.#nic = nic
    this.#key = deviceKey('nic', nic.index)
    this.pci = new PciReader(simulation, nic, this.#key, 'receiving')
  }

  /** Fills a vector by {@link NIC_READ} with what a read at `t` shows through an origin of counters. */
  read(out: Float64Array, t: number, origin: Origin): void {
    // Devices do not change together: each has a phase of its own.
    const at = observedAt(origin, t, origin.updateS * uniform(this.#simulation.seed, STREAM.device, this.#key, 5))
    const nic = this.#numbers(out, at)
    for (let i = 0; i < NIC_FRACTIONS_FROM; i++) out[i] = Math.floor(out[i] as number)
    this.#readPci(out, nic)
    this.#readErrors(out, at)
    this.#readPort(out, nic)
    this.#readLatency(out, nic)
    this.#readModule(out, nic, at)
    this.#readStalls(out, t)
    out[NIC_READ.elapsedMs] = Math.floor(at * 1000)
    out[NIC_READ.dpaActiveS] = at * 0.31
  }

  #numbers(out: Float64Array, t: number): NicSegment {
    const place = this.#simulation.at(this.#place, t)
    nicNumbers(out, this.#simulation.seed, this.#nic, place)
    return place.segment.nics[this.#nic.index] as NicSegment
  }

  #rare(stream: number, perDay: number, t: number): number {
    const own = 0.3 + 1.4 * uniform(this.#simulation.seed, STREAM.device, this.#key, 30 + stream)
    return rareEvents(this.#simulation.seed, this.#key * 16 + stream, (own * perDay) / DAY_S, t)
  }

  #readErrors(out: Float64Array, t: number): void {
    const number = (index: number) => out[index] as number
    const { index } = this.#nic
    const event = (kind: NicEventKind) => this.#simulation.events.ofNic(index, kind, t)
    const effective = number(NIC.effectiveErrors)
    out[NIC_READ.cnpSent] = Math.floor(0.75 * number(NIC.marked))
    out[NIC_READ.correctedBits] = number(NIC.lane0) + number(NIC.lane1) + number(NIC.lane2) + number(NIC.lane3)
    out[NIC_READ.crcErrors] = Math.floor(effective * 0.2)
    out[NIC_READ.icrcErrors] = Math.floor(effective * 0.15)
    out[NIC_READ.duplicates] = number(NIC.tails) + this.#rare(1, 1.5, t)
    out[NIC_READ.sequenceErrors] = number(NIC.lost) + this.#rare(2, 2, t)
    out[NIC_READ.ackTimeoutsAll] = number(NIC.ackTimeouts) + event('ack_timeout') + this.#rare(3, 0.5, t)
    out[NIC_READ.retriesExceeded] = event('retries_exceeded')
    out[NIC_READ.rnrRetries] = event('rnr_retry')
    out[NIC_READ.adaptiveRetries] = number(NIC.tails) + (index % 4)
    out[NIC_READ.cacheHits] = Math.max(0, number(NIC.cacheRequests) - number(NIC.cacheMisses))
    out[NIC_READ.symbolErrors16] = stuckAt(Math.floor(effective * 0.1), 16)
    out[NIC_READ.linkRecoveries] = event('link_recovery')
    out[NIC_READ.linkRecoveries8] = stuckAt(event('link_recovery'), 8)
    out[NIC_READ.linkDowned8] = stuckAt(number(NIC.linkDowns) + (index === FLAPPED_NIC ? 300 : 1), 8)
    out[NIC_READ.bufferOverruns4] = index === OVERRUN_NIC ? stuckAt(40, 4) : 0
    this.#readSaturated(out)
  }

  #readSaturated(out: Float64Array): void {
    const isFull = (index: number, most: number) => out[index] === most
    const symbols = isFull(NIC_READ.symbolErrors16, 0xffff)
    const downs = isFull(NIC_READ.linkDowned8, 0xff)
    const overruns = isFull(NIC_READ.bufferOverruns4, 0xf)
    out[NIC_READ.saturated] = Number(symbols) + Number(downs) + Number(overruns)
    const names = `${symbols ? ' symbol_error' : ''}${downs ? ' link_downed' : ''}${overruns ? ' excessive_buffer_overrun_errors' : ''}`
    this.saturated = names.trimStart()
  }

  #readPort(out: Float64Array, { effect }: NicSegment): void {
    const isUp = effect.link !== 'down'
    out[NIC_READ.up] = isUp ? 1 : 0
    out[NIC_READ.portState] = isUp ? 4 : 1
    out[NIC_READ.physicalState] = isUp ? 5 : 2
    const { speedBytesPerS, signalling } = this.#nic.model
    const { speedShare = 1 } = effect
    out[NIC_READ.trainedSpeed] = speedBytesPerS * speedShare
    out[NIC_READ.speed] = isUp ? speedBytesPerS * speedShare : Number.NaN
    const generation = SIGNALLINGS.indexOf(signalling) + Math.round(Math.log2(1 / speedShare))
    this.signalling = SIGNALLINGS[generation] ?? signalling
  }

  #readLatency(out: Float64Array, { effect }: NicSegment): void {
    const { pcieGeneration, pcieWidth, stalledShare = 0 } = effect
    const isNarrow = pcieGeneration !== undefined || pcieWidth !== undefined || stalledShare > 0.3
    const busy = isInBurst(this.#place) ? (isNarrow ? 6 : 2.2) : 1
    out[NIC_READ.latencyMinS] = 0.45e-6
    out[NIC_READ.latencyMaxS] = 1.5e-6 * busy
  }

  #readModule(out: Float64Array, { effect }: NicSegment, t: number): void {
    const { seed } = this.#simulation
    const own = (stream: number) => uniform(seed, STREAM.device, this.#key, stream) - 0.5
    const isUp = effect.link !== 'down'
    const raw = bitErrorRate(seed, this.#nic.index, effect)
    const errors = effect.effectiveErrorsPerS ?? 0
    out[NIC_READ.rawBer] = isUp ? raw : Number.NaN
    out[NIC_READ.effectiveBer] = isUp ? (errors > 0 ? errors / this.#nic.model.rawBitsPerS : NO_ERROR_BER) : Number.NaN
    const wave = 1.5 * Math.sin((2 * Math.PI * (t - DAY_S * 0.375)) / DAY_S)
    out[NIC_READ.moduleCelsius] = Math.round(10 * (55 + 5 * own(11) + wave)) / 10
    out[NIC_READ.moduleVolts] = 3.3 + 0.04 * own(12)
    out[NIC_READ.lightLost] = isUp ? 0 : 1
    for (let lane = 0; lane < this.#nic.model.lanes; lane++) this.#readLane(out, lane, raw, effect)
  }

  #readLane(out: Float64Array, lane: number, raw: number, { link, worstLane, rxPowerDb, biasFactor }: NicEffect): void {
    const { seed } = this.#simulation
    const { lanes } = this.#nic.model
    const own = (stream: number) => uniform(seed, STREAM.device, this.#key * 8 + lane, stream) - 0.5
    const isUp = link !== 'down'
    // An optic that ages does so on one lane, where it is known which.
    const isAged = worstLane === undefined || worstLane === lane
    const lost = isAged ? (rxPowerDb ?? 0) : 0
    out[laneNumber(lane, LANE_READ.ber)] = isUp ? raw * lanes * laneShare(lane, lanes, worstLane) : Number.NaN
    out[laneNumber(lane, LANE_READ.txPowerDbm)] = 1.4 + 0.6 * own(13)
    out[laneNumber(lane, LANE_READ.rxPowerDbm)] = isUp ? 0.3 + own(14) + lost : -40
    out[laneNumber(lane, LANE_READ.biasAmperes)] = (0.0075 + 0.0006 * own(15)) * (isAged ? (biasFactor ?? 1) : 1)
    out[laneNumber(lane, LANE_READ.signalDb)] = 22.5 + own(16) + lost
  }

  /** Share of the last full second. */
  #readStalls(out: Float64Array, t: number): void {
    const at = observedAt(ORIGINS.stalls, t)
    this.#numbers(this.#to, at)
    this.#numbers(this.#from, at - ORIGINS.stalls.windowS)
    const seconds = (this.#to[NIC.stallS] as number) - (this.#from[NIC.stallS] as number)
    out[NIC_READ.stallRatio] = Math.min(1, rounded(ORIGINS.stalls, seconds))
  }

  #readPci(out: Float64Array, { effect, aer }: NicSegment): void {
    this.pci.readLink(effect)
    this.pci.readErrors(aer, this.#place, 2)
    const of = (number: number) => this.pci.numbers[number] as number
    out[NIC_READ.linkGeneration] = of(PCI_READ.generation)
    out[NIC_READ.linkWidth] = of(PCI_READ.width)
    // Now and then the link trains anew for what it has seen.
    out[NIC_READ.recoveries] = Math.floor((of(PCI_READ.correctable) + of(PCI_READ.nonfatal)) / 50)
  }
}
