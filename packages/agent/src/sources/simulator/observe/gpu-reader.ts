import type { GpuPlace } from '../classes/node-class.ts'
import type { GpuEventKind } from '../effects.ts'
import { deviceKey, STREAM, uniform } from '../model/hash.ts'
import { celsiusAfter } from '../model/heat.ts'
import { PACKET_BYTES, PCIE_OVERHEAD } from '../model/pace.ts'
import { Place } from '../model/place.ts'
import { GPU, GPU_COUNT, NIC, NIC_COUNT } from '../model/quantities.ts'
import { rareEvents } from '../model/rare-events.ts'
import type { GpuSegment } from '../model/segment.ts'
import { gpuIntegrals, nicNumbers, phaseOf } from '../model/values.ts'
import type { Simulation } from '../simulation.ts'
import { ORIGINS, observedAt, rounded } from './origin.ts'
import { PciReader } from './pci-reader.ts'
import { GPU_READ, PCI_READ } from './readings.ts'

const DAY_S = 86_400
/** Largest swing of the air that comes in, over a day. Unit: degrees Celsius. */
const DAY_CELSIUS = 1.5
const RIPPLE_CELSIUS = 0.7

/** Reads one GPU as NVML would. */
export class GpuReader {
  readonly pci: PciReader
  readonly #simulation: Simulation
  readonly #gpu: GpuPlace
  readonly #key: number
  readonly #place = new Place()
  readonly #from = new Float64Array(GPU_COUNT)
  readonly #to = new Float64Array(GPU_COUNT)
  readonly #nicFrom = new Float64Array(NIC_COUNT)
  readonly #nicTo = new Float64Array(NIC_COUNT)

  constructor(simulation: Simulation, gpu: GpuPlace) {
    this.#simulation = simulation
    this.#gpu = gpu
    this.#key = deviceKey('gpu', gpu.index)
    this.pci = new PciReader(simulation, gpu, this.#key, 'sending')
  }

  /** Fills a vector by {@link GPU_READ} with what a read at `t` shows; `intervalS` is the time since the read before. False where the GPU is lost. */
  read(out: Float64Array, t: number, intervalS: number): boolean {
    const gpu = this.#at(t)
    out.fill(Number.NaN)
    this.#readPci(gpu)
    if (gpu.effect.state === 'lost') return false
    this.#readState(out, gpu, t)
    this.#readUse(out, gpu, t)
    this.#readPower(out, t)
    this.#readHeat(out, t)
    this.#readErrors(out, gpu, t)
    this.#readProfile(out, t, intervalS)
    return true
  }

  /** How MIG splits the GPU at a moment, if it does. */
  migAt(t: number): GpuSegment['effect']['mig'] {
    return this.#at(t).effect.mig
  }

  #at(t: number): GpuSegment {
    return this.#simulation.at(this.#place, t).segment.gpus[this.#gpu.index] as GpuSegment
  }

  #integrals(out: Float64Array, t: number): void {
    gpuIntegrals(out, this.#at(t), this.#place)
  }

  #readState(out: Float64Array, gpu: GpuSegment, t: number): void {
    const { model } = this.#gpu
    this.#at(t)
    const phase = phaseOf(gpu, this.#place)
    out[GPU_READ.smClock] = gpu.clocks[phase] as number
    out[GPU_READ.memoryClock] = model.memoryClockMHz
    out[GPU_READ.reasons] = gpu.reasons[phase] as number
    out[GPU_READ.pstate] = 0
    out[GPU_READ.linkGeneration] = this.pci.numbers[PCI_READ.generation] as number
    out[GPU_READ.linkWidth] = this.pci.numbers[PCI_READ.width] as number
    out[GPU_READ.codec] = 0
    out[GPU_READ.limit] = gpu.effect.powerLimitWatts ?? model.powerLimitWatts
    out[GPU_READ.mig] = gpu.effect.mig === undefined ? 0 : 1
    out[GPU_READ.recovery] = gpu.effect.recoveryAction ?? 0
    out[GPU_READ.remapPending] = gpu.effect.rowRemapPending === undefined ? 0 : 1
    out[GPU_READ.remapFailure] = gpu.effect.rowRemapFailure === undefined ? 0 : 1
    const isLoaded = this.#place.segment.state !== 'idle' && gpu.effect.state === undefined
    const slow = 0.9 + 0.004 * uniform(this.#simulation.seed, STREAM.ripple, this.#key, Math.floor(t / 40))
    const used = isLoaded ? Math.round(model.memoryMiB * slow) : 4
    out[GPU_READ.memoryUsed] = used
    out[GPU_READ.memoryFree] = model.memoryMiB - model.reservedMiB - used
  }

  #readUse(out: Float64Array, gpu: GpuSegment, t: number): void {
    const at = observedAt(ORIGINS.utilisation, t)
    const { windowS } = ORIGINS.utilisation
    this.#integrals(this.#to, at)
    this.#integrals(this.#from, at - windowS)
    const share = (index: number) =>
      Math.min(1, ((this.#to[index] as number) - (this.#from[index] as number)) / windowS)
    if (gpu.effect.mig !== undefined) return
    out[GPU_READ.util] = rounded(ORIGINS.utilisation, 100 * share(GPU.util))
    out[GPU_READ.memoryCopy] = rounded(ORIGINS.utilisation, 100 * share(GPU.memoryCopy))
  }

  #readPower(out: Float64Array, t: number): void {
    out[GPU_READ.power] = this.#meanWatts(ORIGINS.power, t)
    out[GPU_READ.powerInstant] = this.#meanWatts(ORIGINS.powerInstant, t)
    this.#integrals(this.#to, observedAt(ORIGINS.energy, t))
    const to = this.#to
    out[GPU_READ.energyMj] = Math.floor(1000 * (to[GPU.energyJ] as number))
    const nanoseconds = (index: number) => Math.floor((to[index] as number) * 1e6) * 1000
    out[GPU_READ.powerCapNs] = nanoseconds(GPU.powerCapS)
    out[GPU_READ.softThermalNs] = nanoseconds(GPU.softThermalS)
    out[GPU_READ.hardThermalNs] = nanoseconds(GPU.hardThermalS)
    out[GPU_READ.brakeNs] = nanoseconds(GPU.brakeS)
    out[GPU_READ.thermalNs] = nanoseconds(GPU.softThermalS) + nanoseconds(GPU.hardThermalS)
  }

  #meanWatts(origin: typeof ORIGINS.power | typeof ORIGINS.powerInstant, t: number): number {
    const at = observedAt(origin, t)
    const from = Math.max(0, at - origin.windowS)
    this.#integrals(this.#to, at)
    this.#integrals(this.#from, from)
    const joules = (this.#to[GPU.energyJ] as number) - (this.#from[GPU.energyJ] as number)
    return rounded(origin, joules / Math.max(1e-9, at - from))
  }

  #readHeat(out: Float64Array, t: number): void {
    const at = observedAt(ORIGINS.temperature, t)
    const gpu = this.#at(at)
    const { seed } = this.#simulation
    const ripple = RIPPLE_CELSIUS * (2 * uniform(seed, STREAM.ripple, this.#key + 64, Math.floor(at / 20)) - 1)
    const day = DAY_CELSIUS * Math.sin((2 * Math.PI * (at - DAY_S * 0.375)) / DAY_S)
    const celsius = celsiusAfter(gpu.startCelsius, gpu.steadyCelsius, this.#place.elapsedS) + day
    out[GPU_READ.celsius] = rounded(ORIGINS.temperature, celsius + ripple)
    if (!this.#gpu.model.hasMemoryTemperature) return
    // Its distance to the GPU grows with load, and so with temperature.
    const above = 8 + 0.16 * Math.max(0, celsius - 28)
    out[GPU_READ.memoryCelsius] = rounded(ORIGINS.temperature, celsius + above)
  }

  #readErrors(out: Float64Array, gpu: GpuSegment, t: number): void {
    const { seed } = this.#simulation
    const { index, model } = this.#gpu
    const rare = (stream: number, perDay: number) => rareEvents(seed, this.#key * 16 + stream, perDay / DAY_S, t)
    const events = (kind: GpuEventKind) => this.#simulation.events.ofGpu(index, kind, t)
    this.#integrals(this.#to, t)
    const corrected = Math.floor(this.#to[GPU.correctedErrors] as number) + rare(1, 0.5) + events('ecc_corrected')
    const uncorrected = events('ecc_uncorrected')
    const before = Math.floor(20 * uniform(seed, STREAM.device, this.#key, 7))
    out[GPU_READ.correctedErrors] = corrected
    out[GPU_READ.uncorrectedErrors] = uncorrected
    out[GPU_READ.correctedAgg] = corrected + before
    out[GPU_READ.uncorrectedAgg] = uncorrected + (before > 18 ? 1 : 0)
    out[GPU_READ.correctedRows] = events('row_remap_corrected') + (before > 15 ? 1 : 0)
    out[GPU_READ.uncorrectedRows] = events('row_remap_uncorrected') + (before > 18 ? 1 : 0)
    out[GPU_READ.replays] = rare(2, 0.3) + this.#replays()
    out[GPU_READ.lastXid] = this.#lastXid(t)
    if (model.nvlinkLinks === 0) return
    out[GPU_READ.nvlinkCrc] = rare(3, 0.2)
    out[GPU_READ.nvlinkReplays] = rare(4, 0.05)
    if (gpu.effect.mig !== undefined) {
      for (const number of [GPU_READ.correctedRows, GPU_READ.uncorrectedRows]) out[number] = Number.NaN
    }
  }

  /** Replays are what the data link layer does about broken and lost packets. */
  #replays(): number {
    return this.pci.countOf('correctable/BadTLP') + this.pci.countOf('correctable/Timeout')
  }

  #lastXid(t: number): number {
    return this.#simulation.events.lastXid(this.#gpu.index, t) ?? (jobsEnded(this.#gpu) > 0 ? 45 : 0)
  }

  #readPci({ effect, aer }: GpuSegment): void {
    // An idle GPU saves power on its link too.
    const isSaving = this.#place.segment.state === 'idle' && effect.pcieGeneration === undefined
    this.pci.readLink(isSaving ? { ...effect, pcieGeneration: 1 } : effect, effect.state !== 'lost')
    this.pci.readErrors(aer, this.#place, 1)
  }

  #readProfile(out: Float64Array, t: number, intervalS: number): void {
    const isFast = intervalS < ORIGINS.profile.windowS
    const at = isFast ? observedAt(ORIGINS.profile, t) : t
    const windowS = Math.min(at, Math.max(intervalS, ORIGINS.profile.windowS))
    this.#integrals(this.#to, at)
    this.#integrals(this.#from, at - windowS)
    const rate = (index: number) => ((this.#to[index] as number) - (this.#from[index] as number)) / windowS
    out[GPU_READ.engine] = rate(GPU.engine)
    out[GPU_READ.sm] = rate(GPU.sm)
    out[GPU_READ.occupancy] = rate(GPU.occupancy)
    out[GPU_READ.tensor] = rate(GPU.tensor)
    out[GPU_READ.dram] = rate(GPU.dram)
    out[GPU_READ.fp64] = rate(GPU.fp64)
    out[GPU_READ.fp32] = rate(GPU.fp32)
    out[GPU_READ.fp16] = rate(GPU.fp16)
    if (this.#gpu.model.nvlinkLinks > 0) {
      out[GPU_READ.nvlinkTx] = rate(GPU.nvlinkTxBytes)
      out[GPU_READ.nvlinkRx] = rate(GPU.nvlinkRxBytes)
    }
    const [tx, rx] = this.#railBytesPerS(at, windowS)
    out[GPU_READ.pcieTx] = rate(GPU.hostTxBytes) + PCIE_OVERHEAD * tx
    out[GPU_READ.pcieRx] = rate(GPU.hostRxBytes) + PCIE_OVERHEAD * rx
  }

  /** What the NIC of the same rail takes from the GPU's memory, and brings. */
  #railBytesPerS(at: number, windowS: number): readonly [number, number] {
    const nic = this.#simulation.node.nics[this.#gpu.index]
    if (nic?.role !== 'training') return [0, 0]
    const { seed } = this.#simulation
    nicNumbers(this.#nicTo, seed, nic, this.#simulation.at(this.#place, at))
    nicNumbers(this.#nicFrom, seed, nic, this.#simulation.at(this.#place, at - windowS))
    const rate = (index: number) => ((this.#nicTo[index] as number) - (this.#nicFrom[index] as number)) / windowS
    return [PACKET_BYTES * rate(NIC.txData), PACKET_BYTES * rate(NIC.rxData)]
  }
}

/** Jobs that were ended on a GPU since the driver was loaded: each told as XID 45, which is no fault. */
export function jobsEnded({ index }: GpuPlace): number {
  return index % 3 === 1 ? 2 : 0
}
