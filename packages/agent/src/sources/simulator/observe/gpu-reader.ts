import type { GpuModel, GpuPlace } from '../classes/node-class.ts'
import type { GpuEventKind } from '../effects.ts'
import { deviceKey, STREAM, uniform } from '../model/hash.ts'
import { PACKET_BYTES } from '../model/pace.ts'
import { GPU_COUNT, NIC_COUNT } from '../model/quantities.ts'
import { rareEvents } from '../model/rare-events.ts'
import { SchedulePosition } from '../model/schedule-position.ts'
import type { GpuSegment } from '../model/segment.ts'
import { gpuIntegrals, nicNumbers, phaseOf } from '../model/values.ts'
import type { Simulation } from '../simulation.ts'
import { gpuCelsius, memoryCelsius, rippleCelsius } from './gpu-heat.ts'
import { ORIGINS, observedAt, type ReadingOrigin } from './origin.ts'
import { PciReader } from './pci-reader.ts'
import { Window } from './window.ts'

const DAY_S = 86_400
/** The XID of a job that was ended. It is no fault, and most nodes have already reported it. */
export const JOB_ENDED = 45

/** Reads one GPU: its state at a moment, and its numbers by {@link GPU} in the window of each origin. */
export class GpuReader {
  readonly model: GpuModel
  readonly pci: PciReader
  readonly use: Window
  readonly power: Window
  readonly powerInstant: Window
  readonly energy: Window
  readonly profile: Window
  /** All numbers up to the moment of the reading. */
  readonly live: Window
  /** Present segment of the schedule, and the GPU's phase in it. */
  segment!: GpuSegment
  phase = 0
  /** Temperature of its origin before rounding. Unit: degrees Celsius. */
  celsius = Number.NaN
  memoryCelsius = Number.NaN
  /** Memory of processes. Unit: MiB. */
  usedMiB = 0
  readonly #simulation: Simulation
  readonly #gpu: GpuPlace
  readonly #key: number
  readonly #place = new SchedulePosition()
  readonly #placeOfHeat = new SchedulePosition()
  /** The NIC of the same rail, by {@link NIC}, in the window of {@link profile}. */
  readonly #rail: Window | undefined
  #t = 0

  constructor(simulation: Simulation, gpu: GpuPlace) {
    const { seed, node } = simulation
    const fill = (out: Float64Array, place: SchedulePosition) =>
      gpuIntegrals(out, place.segment.gpus[gpu.index] as GpuSegment, place)
    const window = () => new Window(simulation, GPU_COUNT, fill)
    const nic = node.nics[gpu.index]
    this.#gpu = gpu
    this.model = gpu.model
    this.#simulation = simulation
    this.#key = deviceKey('gpu', gpu.index)
    this.pci = new PciReader(simulation, gpu, this.#key, 'sending')
    this.use = window()
    this.power = window()
    this.powerInstant = window()
    this.energy = window()
    this.profile = window()
    this.live = window()
    if (nic?.role === 'training')
      this.#rail = new Window(simulation, NIC_COUNT, (out, place) => nicNumbers(out, seed, nic, place))
  }

  get isLost(): boolean {
    return this.segment.effect.state === 'lost'
  }

  /** Whether MIG splits it. */
  get isSplit(): boolean {
    return this.segment.effect.mig !== undefined
  }

  get hasNvlink(): boolean {
    return this.model.nvlinkLinks > 0
  }

  /** Reads it at `t`; `intervalS` is the time since the previous reading. Of a lost GPU only the link is read. */
  read(t: number, intervalS: number): void {
    this.#t = t
    const { segment } = this.#simulation.at(this.#place, t)
    this.segment = segment.gpus[this.#gpu.index] as GpuSegment
    this.phase = phaseOf(this.segment, this.#place)
    this.#readPci(this.segment)
    if (this.isLost) return
    this.#readMemory(t)
    this.#look(this.use, ORIGINS.utilisation)
    this.#look(this.power, ORIGINS.power)
    this.#look(this.powerInstant, ORIGINS.powerInstant)
    this.energy.look(observedAt(ORIGINS.energy, t))
    this.live.look(t)
    this.#lookAtProfile(t, intervalS)
    this.#readHeat(observedAt(ORIGINS.temperature, t))
  }

  /** Count of rare errors that happen this many times a day. */
  rare(stream: number, perDay: number): number {
    return rareEvents(this.#simulation.seed, this.#key * 16 + stream, perDay / DAY_S, this.#t)
  }

  /** Number of events of the GPU. */
  events(kind: GpuEventKind): number {
    return this.#simulation.events.ofGpu(this.#gpu.index, kind, this.#t)
  }

  /** The last XID error; 0 for none. */
  get lastXid(): number {
    return this.#simulation.events.lastXid(this.#gpu.index, this.#t) ?? (jobsEnded(this.#gpu) > 0 ? JOB_ENDED : 0)
  }

  /** Errors of its memory before the driver was loaded. */
  get errorsBefore(): number {
    return Math.floor(20 * uniform(this.#simulation.seed, STREAM.device, this.#key, 7))
  }

  /**
   * Bytes per second that the NIC of its rail reads from or writes to its memory, in the window of {@link profile};
   * `packets` by {@link NIC}.
   */
  railBytesPerS(...packets: readonly number[]): number {
    return packets.reduce((sum, number) => sum + PACKET_BYTES * (this.#rail?.mean(number) ?? 0), 0)
  }

  #look(window: Window, origin: ReadingOrigin): void {
    const at = observedAt(origin, this.#t)
    window.look(at, Math.max(1e-9, at - Math.max(0, at - origin.windowS)))
  }

  #lookAtProfile(t: number, intervalS: number): void {
    const isFast = intervalS < ORIGINS.profile.windowS
    const at = isFast ? observedAt(ORIGINS.profile, t) : t
    const windowS = Math.min(at, Math.max(intervalS, ORIGINS.profile.windowS))
    this.profile.look(at, windowS)
    this.#rail?.look(at, windowS)
  }

  #readPci({ effect, aer }: GpuSegment): void {
    // An idle GPU also reduces the speed of its link, to save power.
    const isSaving = this.#place.segment.state === 'idle' && effect.pcieGeneration === undefined
    this.pci.readLink(isSaving ? { ...effect, pcieGeneration: 1 } : effect, effect.state !== 'lost')
    this.pci.readErrors(aer, this.#place, 1)
  }

  #readMemory(t: number): void {
    const isLoaded = this.#place.segment.state !== 'idle' && this.segment.effect.state === undefined
    const share = 0.9 + 0.004 * uniform(this.#simulation.seed, STREAM.ripple, this.#key, Math.floor(t / 40))
    this.usedMiB = isLoaded ? Math.round(this.model.memoryMiB * share) : 4
  }

  #readHeat(at: number): void {
    const { segment, elapsedS } = this.#simulation.at(this.#placeOfHeat, at)
    const celsius = gpuCelsius(segment.gpus[this.#gpu.index] as GpuSegment, elapsedS, at)
    this.celsius = celsius + rippleCelsius(this.#simulation.seed, this.#key, at)
    this.memoryCelsius = memoryCelsius(celsius)
  }
}

/** Jobs that were ended on a GPU since the driver was loaded; each was reported as XID {@link JOB_ENDED}. */
export function jobsEnded({ index }: GpuPlace): number {
  return index % 3 === 1 ? 2 : 0
}
