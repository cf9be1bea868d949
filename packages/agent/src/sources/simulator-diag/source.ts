import { type RecordType, wallNs } from '@sonde/sdk'
import { countOf, gapType, seriesKey, turn } from '@sonde/sdk/internal'
import { sampleBytesOf } from '../../native/doca/layout.ts'
import type { DocaDeviceNames } from '../../native/doca/roster.ts'
import { type ListedDevices, WantedDevices } from '../doca/wanted-devices.ts'
import { docaDiagSamplingType, sampleTypeOf } from '../doca-telemetry-diag/type.ts'
import { FieldAbsences } from '../field-absences.ts'
import type { NicPlace } from '../simulator/classes/node-class.ts'
import { ScenarioPlay } from '../simulator/scenario-play.ts'
import type { Simulation } from '../simulator/simulation.ts'
import { EPOCH_NS } from '../simulator/time.ts'
import type { DeviceClock, Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import { sampleColumn, simulatedIds } from './columns.ts'
import type { SimulatorDiagOptions } from './config.ts'
import { NicSamples } from './nic-samples.ts'
import { NicStretch } from './nic-stretch.ts'
import { type HostClocks, NodeClock } from './node-clock.ts'

/** Samples of one block: some tenths of a millisecond, so that no turn of the loop is long. */
const BLOCK_SAMPLES = 256
const NS_PER_S = 1e9

/** Parts of a {@link SimulatorDiag} that tests and the simulated past replace. */
export interface SimulatorDiagParts {
  /** Default: the clocks of the machine. */
  readonly clocks?: HostClocks
  /** The node whose NICs are sampled. Default: the node of the options, which starts their scenarios. */
  readonly simulation?: Simulation
}

const HOST_CLOCKS: HostClocks = { wallNs, monoNs: process.hrtime.bigint }

/** A NIC and the state of its sampling. */
interface Sampled {
  readonly samples: NicSamples
  readonly clock: DeviceClock
  readonly absences: FieldAbsences
  /** Number of the next sample. */
  next: number
  made: number
  skipped: number
  /** Skipped samples since the last gap record, and the start of the gap. */
  gap: { samples: number; fromNs: bigint }
}

/** The diagnostic counters of simulated NICs at full rate. Each call creates the samples of all NICs up to now. */
export class SimulatorDiag implements NodeSource {
  readonly #context: SourceContext
  readonly #play: ScenarioPlay
  readonly #clock: NodeClock
  readonly #periodNs: number
  readonly #ringSamples: number
  readonly #counters: number
  readonly #wanted: WantedDevices
  /** Names of the NICs as in the DOCA libraries, so that the same names work for both. */
  readonly #listed: ListedDevices
  readonly #sampled: readonly Sampled[]
  readonly #duties: readonly Duty[]
  #isClosed = false

  /**
   * Starts the scenarios of the configuration.
   *
   * @throws SondeError `SIM_COUNTER` for a counter that simulated NICs lack.
   */
  constructor(
    options: SimulatorDiagOptions,
    context: SourceContext,
    { clocks = HOST_CLOCKS, simulation: given }: SimulatorDiagParts = {},
  ) {
    const { sample_period_us, ring_ms, drain_ms, counters, devices } = options
    this.#context = context
    this.#play = new ScenarioPlay(options, context)
    this.#clock = new NodeClock(clocks)
    this.#periodNs = sample_period_us * 1000
    this.#ringSamples = Math.ceil((ring_ms * 1000) / sample_period_us)
    const ids = simulatedIds(counters)
    this.#counters = ids.length
    const simulation = given ?? this.#play.simulation
    const columns = ids.map(sampleColumn)
    const numbers = columns.flatMap((column) => {
      if (column.kind === 'count') return column.terms.map(([number]) => number)
      return column.kind === 'time' ? [column.number] : []
    })
    const sums = { low: new Float64Array(BLOCK_SAMPLES), high: new Float64Array(BLOCK_SAMPLES) }
    const stretch = new NicStretch(simulation, [...new Set(numbers)], BLOCK_SAMPLES)
    const shared = { type: sampleTypeOf(ids) as RecordType, ids, columns, stretch, sums, capacity: BLOCK_SAMPLES }
    this.#wanted = new WantedDevices(devices)
    this.#listed = { devices: simulation.node.nics.flatMap(namesOf), planes: new Map() }
    const read = new Set(this.#wanted.of(this.#listed).map(({ name }) => name))
    const nics = simulation.node.nics.filter(({ device }) => read.has(device))
    this.#sampled = nics.map(
      (nic): Sampled => ({
        samples: new NicSamples({ ...shared, nic, ringSamples: this.#ringSamples }, context),
        clock: context.clock(nic.device, 'rtc', NS_PER_S),
        absences: new FieldAbsences(context.absences, docaDiagSamplingType, { rdma_device: nic.device }),
        ...{ next: -1, made: 0, skipped: 0, gap: { samples: 0, fromNs: 0n } },
      }),
    )
    const reportUs = context.intervalMs * 1000
    const drainUs = drain_ms * 1000
    this.#duties = [
      { device: '', name: 'drain', everyUs: drainUs, lane: 'samples', run: () => this.#drain() },
      { device: '', name: 'report', everyUs: reportUs, lane: 'samples', paces: 'report', run: () => this.#report() },
    ]
    for (const { device } of nics)
      context.source.setPeriod(undefined, { device, sampleUs: sample_period_us, drainUs, reportUs })
  }

  probe(): Probe {
    if (this.#sampled.length > 0) return { state: 'present', found: countOf(this.#sampled.length, 'simulated NIC') }
    return { state: 'absent', reason: this.#wanted.none(this.#listed) }
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  command(command: unknown): unknown {
    return this.#play.command(command)
  }

  close(): void {
    this.#isClosed = true
  }

  /** Creates the samples of all NICs up to now. */
  async #drain(): Promise<void> {
    this.#isClosed = false
    const aheadNs = this.#clock.look()
    const { offsetNs, monoNs } = this.#clock
    const end = Math.floor(Number(monoNs + offsetNs - EPOCH_NS) / this.#periodNs) + 1
    for (const sampled of this.#sampled) {
      this.#skip(sampled, aheadNs, end)
      while (sampled.next < end) {
        const count = Math.min(BLOCK_SAMPLES, end - sampled.next)
        const deviceNs = this.#deviceNs(sampled.next)
        const moments = { first: sampled.next, count, periodNs: this.#periodNs }
        sampled.samples.make(moments, { deviceNs, monoNs: deviceNs - offsetNs })
        sampled.next += count
        sampled.made += count
        if (turn.isOver()) await turn.next()
        if (this.#isClosed) return
      }
    }
  }

  /**
   * Counts samples that are missing since the last call: after a forward step of the clock, or beyond the capacity of
   * the ring.
   */
  #skip(sampled: Sampled, aheadNs: bigint, end: number): void {
    if (sampled.next < 0) {
      sampled.next = end - 1
      return
    }
    const ahead = Math.floor(Number(aheadNs) / this.#periodNs)
    const first = Math.min(end, Math.max(sampled.next + ahead, end - this.#ringSamples))
    const skipped = first - sampled.next
    if (skipped <= 0) return
    if (sampled.gap.samples === 0) sampled.gap.fromNs = this.#deviceNs(sampled.next)
    sampled.gap.samples += skipped
    sampled.skipped += skipped
    sampled.next = first
  }

  #report(): void {
    const { source } = this.#context
    const { offsetNs, monoNs } = this.#clock
    for (const { samples, clock, absences, next, made, skipped, gap } of this.#sampled) {
      if (made === 0) continue
      const { device } = samples.nic
      const time = this.#deviceNs(next - 1)
      clock.bracket(monoNs, monoNs + offsetNs, monoNs)
      absences.absent('drain_cpu_ratio', 'unsupported', 'it is measured where a library is asked for samples')
      source.report(docaDiagSamplingType, {
        ...{ time, rdma_device: device, device_ticks: time, samples_total: made, skipped_samples_total: skipped },
        sample_bytes: sampleBytesOf(this.#counters),
        ...{ counters: this.#counters, refused_counters: 0, period_seconds: this.#periodNs / NS_PER_S },
      })
      if (gap.samples === 0) continue
      const reason = 'the clock was set ahead, or no sample was made for longer than the ring holds'
      const of = { type: 'doca_diag_sample', series: seriesKey({ ...source.info.labels, rdma_device: device }) }
      source.report(gapType, { time, ...of, from_ns: gap.fromNs, to_ns: time, records: gap.samples, reason })
      gap.samples = 0
    }
  }

  /** Time of a sample by the clock of its NIC. Unit: nanoseconds since the Unix epoch. */
  #deviceNs(sample: number): bigint {
    return BigInt(sample) * BigInt(this.#periodNs) + EPOCH_NS
  }
}

/** Names of a NIC: its device and each of its ports. The ports of a bond have their own addresses and interfaces. */
function namesOf({ device: name, address, netdev, ports }: NicPlace): DocaDeviceNames[] {
  const own = { name, pciAddress: address, netdev }
  const others = ports.filter((port) => port.netdev !== netdev || port.address !== address)
  return [own, ...others.map((port) => ({ name, pciAddress: port.address, netdev: port.netdev }))]
}
