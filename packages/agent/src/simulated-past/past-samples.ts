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
const NS_PER_MS = 1_000_000n

/** Options of {@link PastSamples}. */
export interface PastSamplesOptions {
  readonly request: PastRequest
  readonly rings: PastRings
  readonly simulation: Simulation
  readonly watch: Watch
  /** Unit: milliseconds since the Unix epoch. */
  readonly fromMs: number
  readonly onEdge: (edge: HostEdge) => void
  /** Takes the records that the node reports. Default: nothing is reported. */
  readonly accept?: (batch: Batch) => void
}

/**
 * The samples of the simulated NICs at full rate in a part of the past, as rings with the rules that watch them. The
 * monotonic clock of the past is its wall clock.
 */
export class PastSamples {
  /** The sources that events fetch windows from. */
  readonly sources: readonly RingSource[]
  readonly #options: PastSamplesOptions
  readonly #diag: SimulatorDiag
  readonly #outlet: SourceOutlet
  readonly #report: NodeReport
  readonly #reported: SourceOutlet
  #nowNs: bigint
  /** When the node reports next, and when its NICs do. Unit: milliseconds since the Unix epoch. */
  #reportMs: number
  #diagMs: number

  constructor(options: PastSamplesOptions) {
    const { request, rings, simulation, watch, fromMs, onEdge } = options
    this.#options = options
    this.#nowNs = nsOf(fromMs)
    this.#diagMs = fromMs
    // Reports have the times of those in the history.
    this.#reportMs = request.fromMs + Math.ceil((fromMs - request.fromMs) / request.intervalMs) * request.intervalMs
    const stats = { rings: new SourceStats(), node: new SourceStats() }
    const edges = { startsMax: Number.POSITIVE_INFINITY, slot: eventSlot(rings.index), fromMs }
    this.#outlet = this.#outletOf(rings, stats.rings, { edges, onEdge })
    this.#reported = this.#outletOf(request, stats.node, {})
    this.#outlet.watch(watch)
    const now = () => this.#nowNs
    this.#diag = new SimulatorDiag(rings.options, this.#outlet.context, {
      clocks: { wallNs: now, monoNs: now },
      simulation,
    })
    this.#report = new NodeReport(simulation, this.#reported.context)
    this.sources = [
      ringSource(rings.name, simulatorDiag, stats.rings, this.#outlet),
      ringSource(request.name, simulator, stats.node, this.#reported),
    ]
  }

  /** The time up to which there are samples. Unit: nanoseconds since the Unix epoch. */
  get nowNs(): bigint {
    return this.#nowNs
  }

  /** Makes the samples of the next drain, and walks the rules over them. */
  async step(): Promise<void> {
    const { rings, request, accept } = this.#options
    this.#nowNs += nsOf(rings.options.drain_ms)
    const nowMs = Number(this.#nowNs / NS_PER_MS)
    for (; accept !== undefined && this.#reportMs <= nowMs; this.#reportMs += request.intervalMs) {
      const timeNs = nsOf(this.#reportMs)
      this.#report.sample(timeNs, secondsOf(timeNs))
      this.#reported.flush()
    }
    await this.#run('drain')
    for (; this.#diagMs <= nowMs; this.#diagMs += rings.intervalMs) await this.#run('report')
    this.#outlet.flush()
  }

  async #run(duty: string): Promise<void> {
    for (const one of this.#diag.duties()) if (one.name === duty) await one.run()
  }

  #outletOf(
    { name, intervalMs }: Pick<PastRings, 'name' | 'intervalMs'>,
    stats: SourceStats,
    edges: Pick<ConstructorParameters<typeof SourceOutlet>[0], 'edges' | 'onEdge'>,
  ): SourceOutlet {
    const { request, accept } = this.#options
    return new SourceOutlet({
      ...{ name, intervalMs, startedMs: request.startedMs, labels: { simulated: 'true' }, ...edges },
      emit: (batch) => {
        stats.accepted(batch)
        accept?.(batch)
      },
      paths: { procfs: '', sysfs: '' },
      stats,
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

function nsOf(timeMs: number): bigint {
  return BigInt(Math.round(timeMs)) * NS_PER_MS
}
