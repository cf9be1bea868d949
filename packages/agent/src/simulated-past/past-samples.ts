import type { Batch } from '@sonde/sdk'
import { cutWindow } from '../hosting/cut-window.ts'
import { eventSlot, type HostEdge } from '../hosting/edge-gate.ts'
import type { RingSource } from '../hosting/running-source.ts'
import { SourceOutlet } from '../hosting/source-outlet.ts'
import { SourceStats } from '../hosting/source-stats.ts'
import type { Watch } from '../rules/watch.ts'
import { NodeReport } from '../sources/simulator/report/node-report.ts'
import type { Simulation } from '../sources/simulator/simulation.ts'
import { simulator } from '../sources/simulator/simulator.ts'
import { secondsOf } from '../sources/simulator/time.ts'
import { simulatorDiag } from '../sources/simulator-diag/simulator-diag.ts'
import { SimulatorDiag } from '../sources/simulator-diag/source.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { PastRequest, PastRings } from './past-protocol.ts'

/** A window is handed over in pieces of this size. Unit: bytes. */
const PIECE_BYTES = 256 << 10
/** Time of a step where no NIC is sampled. Unit: milliseconds. */
const STEP_MS = 200
const NS_PER_MS = 1_000_000n

/** Options of {@link PastSamples}. */
export interface PastSamplesOptions {
  readonly request: PastRequest
  /** Default: no NIC is sampled. */
  readonly rings: PastRings | undefined
  readonly simulation: Simulation
  readonly watch: Watch
  /** Unit: milliseconds since the Unix epoch. */
  readonly fromMs: number
  /** Called with each edge of a rule on samples. */
  readonly onEdge: (edge: HostEdge) => void
  /** Takes the records of the node and of the sampling. */
  readonly accept: (batch: Batch) => void
  /** Whether the node reports its records. */
  readonly isReporting: boolean
}

/**
 * A part of the past with all details: the records of the node, and the samples of its NICs at full rate, as rings with
 * the rules that watch them. The monotonic clock of the past is its wall clock.
 */
export class PastSamples {
  /** The sources that events fetch windows from. */
  readonly sources: readonly RingSource[]
  readonly #options: PastSamplesOptions
  readonly #node: SourceOutlet
  readonly #report: NodeReport
  readonly #nics: { readonly outlet: SourceOutlet; readonly diag: SimulatorDiag } | undefined
  #nowNs: bigint
  /** When the node reports next, and when its sampling does. Unit: milliseconds since the Unix epoch. */
  #reportMs: number
  #samplingMs: number

  constructor(options: PastSamplesOptions) {
    const { request, rings, simulation, fromMs } = options
    const { intervalMs } = request
    this.#options = options
    this.#nowNs = nsOf(fromMs)
    this.#samplingMs = fromMs
    // Reports have the times of those in the history.
    this.#reportMs = request.fromMs + Math.ceil((fromMs - request.fromMs) / intervalMs) * intervalMs
    const stats = new SourceStats()
    this.#node = this.#outletOf(request, stats)
    this.#report = new NodeReport(simulation, this.#node.context)
    const node = ringSource(request.name, simulator, stats, this.#node)
    if (rings === undefined) {
      this.sources = [node]
      return
    }
    const nicStats = new SourceStats()
    this.#nics = this.#sampledNics(rings, nicStats)
    this.sources = [ringSource(rings.name, simulatorDiag, nicStats, this.#nics.outlet), node]
  }

  /** The time up to which there are samples. Unit: nanoseconds since the Unix epoch. */
  get nowNs(): bigint {
    return this.#nowNs
  }

  /** Makes the records and samples of the next drain. Rules walk over the samples. */
  async step(): Promise<void> {
    const { rings, request, isReporting } = this.#options
    this.#nowNs += nsOf(rings?.options.drain_ms ?? STEP_MS)
    const nowMs = Number(this.#nowNs / NS_PER_MS)
    for (; isReporting && this.#reportMs <= nowMs; this.#reportMs += request.intervalMs) {
      const timeNs = nsOf(this.#reportMs)
      this.#report.sample(timeNs, secondsOf(timeNs))
      this.#node.flush()
    }
    if (rings === undefined) return
    await this.#run('drain')
    for (; this.#samplingMs <= nowMs; this.#samplingMs += rings.intervalMs) await this.#run('report')
    this.#nics?.outlet.flush()
  }

  async #run(duty: string): Promise<void> {
    for (const one of this.#nics?.diag.duties() ?? []) if (one.name === duty) await one.run()
  }

  #sampledNics(rings: PastRings, stats: SourceStats) {
    const { simulation, watch, fromMs, onEdge } = this.#options
    const edges = { startsMax: Number.POSITIVE_INFINITY, slot: eventSlot(rings.index), fromMs }
    const outlet = this.#outletOf(rings, stats, { edges, onEdge })
    outlet.watch(watch)
    const now = () => this.#nowNs
    const clocks = { wallNs: now, monoNs: now }
    return { outlet, diag: new SimulatorDiag(rings.options, outlet.context, { clocks, simulation }) }
  }

  #outletOf(
    { name, intervalMs }: Pick<PastRings, 'name' | 'intervalMs'>,
    stats: SourceStats,
    edges: Pick<ConstructorParameters<typeof SourceOutlet>[0], 'edges' | 'onEdge'> = {},
  ): SourceOutlet {
    const { request, accept } = this.#options
    return new SourceOutlet({
      ...{ name, intervalMs, startedMs: request.startedMs, labels: { simulated: 'true' }, stats, ...edges },
      paths: { procfs: '', sysfs: '' },
      emit: (batch) => {
        stats.accepted(batch)
        accept(batch)
      },
    })
  }
}

function ringSource(name: string, definition: SourceDefinition, stats: SourceStats, outlet: SourceOutlet): RingSource {
  return {
    ...{ name, definition, stats },
    taps: async () => outlet.taps(),
    async window(request, take) {
      const tap = outlet.tap(request.type, request.device)
      if (tap === undefined) return { records: 0, leftOut: 0 }
      const window = cutWindow(tap, request)
      for (const piece of outlet.piecesOf(window, PIECE_BYTES)) await take(piece)
      return { records: window.count, leftOut: window.leftOut }
    },
  }
}

/** A time in nanoseconds, to the millisecond. */
export function nsOf(timeMs: number): bigint {
  return BigInt(Math.round(timeMs)) * NS_PER_MS
}
