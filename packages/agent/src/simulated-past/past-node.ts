import type { Batch, Source } from '@sonde/sdk'
import { createOwnSource } from '@sonde/sdk/internal'
import { Devices } from '../devices/devices.ts'
import { Hints } from '../hints/hints.ts'
import { reportStretch, STRETCH_MAX_MS } from '../hints/history/simulated-past-type.ts'
import { SourceOutlet } from '../hosting/source-outlet.ts'
import { NodeReport } from '../sources/simulator/report/node-report.ts'
import { simulationOf } from '../sources/simulator/scenario-play.ts'
import type { Simulation } from '../sources/simulator/simulation.ts'
import { secondsOf, secondsOfMs } from '../sources/simulator/time.ts'
import { type PastRequest, SELF } from './past-protocol.ts'

/** Rules are evaluated this long after each sample. Unit: milliseconds. */
const EVALUATED_AFTER_MS = 100
const NS_PER_MS = 1_000_000n

/** Takes the records of the past. */
export type TakePast = (source: string, batch: Batch) => void

/**
 * A simulated node and its hints in a time that has passed. It reports what an agent with the same node would have
 * reported then, as fast as it can be computed.
 */
export class PastNode {
  /** What the node has had so far. */
  readonly devices: Devices
  readonly simulation: Simulation
  readonly #request: PastRequest
  readonly #report: NodeReport
  readonly #outlet: SourceOutlet
  readonly #hints: Hints
  readonly #self: Source
  #atMs: number
  /** Up to this time the simulated time is reported. Unit: milliseconds since the Unix epoch. */
  #toldMs: number

  constructor(request: PastRequest, take: TakePast) {
    const { options, name, host, intervalMs, startedMs, fromMs } = request
    this.#request = request
    this.#atMs = fromMs
    this.#toldMs = fromMs
    this.simulation = simulationOf(options, secondsOfMs(startedMs))
    this.devices = new Devices({ host, now: () => this.#atMs })
    this.#hints = new Hints({ devices: this.devices })
    const emit = (batch: Batch) => {
      this.devices.accept(batch)
      this.#hints.accept(batch)
      take(name, batch)
    }
    this.#outlet = new SourceOutlet({
      ...{ name, intervalMs, startedMs, labels: { simulated: 'true' }, emit },
      paths: { procfs: '', sysfs: '' },
      stats: { failed: { add: rethrow }, dropped: new Map() },
    })
    this.#report = new NodeReport(this.simulation, this.#outlet.context)
    this.#self = createOwnSource({ id: SELF, labels: { simulated: 'true' }, emit: (batch) => take(SELF, batch) })
  }

  /** Time of the next sample. Unit: milliseconds since the Unix epoch. */
  get atMs(): number {
    return this.#atMs
  }

  /** Takes one sample and evaluates the rules; returns whether the past is complete. */
  step(): boolean {
    const { intervalMs, toMs } = this.#request
    const time = BigInt(Math.round(this.#atMs)) * NS_PER_MS
    this.#report.sample(time, secondsOf(time))
    this.#outlet.flush()
    this.#hints.evaluate(this.#atMs + EVALUATED_AFTER_MS)
    this.#atMs += intervalMs
    const isDone = this.#atMs > toMs
    if (isDone || this.#atMs - this.#toldMs >= STRETCH_MAX_MS) this.#tellStretch()
    this.#hints.report(this.#self, { isLast: isDone })
    return isDone
  }

  #tellStretch(): void {
    reportStretch(this.#self, this.#request.options.seed, { fromMs: this.#toldMs, toMs: this.#atMs })
    this.#toldMs = this.#atMs
  }
}

function rethrow(_place: string, error: unknown): never {
  throw error
}
