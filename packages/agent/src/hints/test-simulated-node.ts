import { type Batch, createSource, type Source } from '@sonde/sdk'
import type { Hint, ScenarioRequest } from '@sonde/sdk/api'
import { Devices } from '../devices/devices.ts'
import { SourceOutlet } from '../hosting/source-outlet.ts'
import { NODE_CLASSES } from '../sources/simulator/classes/classes.ts'
import type { NodeClass } from '../sources/simulator/classes/node-class.ts'
import { NodeReport } from '../sources/simulator/report/node-report.ts'
import { ScenarioBook } from '../sources/simulator/scenarios/book.ts'
import { Simulation } from '../sources/simulator/simulation.ts'
import { msOfSeconds, secondsOf } from '../sources/simulator/time.ts'
import { Hints } from './hints.ts'
import { checkNumbers } from './test-numbers.ts'

const START_S = 1_000_000

/** Options of a simulated node. */
interface SimulatedNodeOptions {
  readonly seed?: number
  readonly nodeClass?: string
  readonly workload?: 'training' | 'inference'
  /** Unit: milliseconds since the Unix epoch. Default: some time. */
  readonly startMs?: number
  /** Takes all records, those of hints too. Default: hints see them alone. */
  readonly keep?: (batch: Batch) => void
}

/** A simulated node with its hints. Time passes as fast as a test wants. */
export class HintedNode {
  readonly node: NodeClass
  readonly book: ScenarioBook
  readonly hints: Hints
  /** When each hint was first seen open, by id. Unit: seconds after `marks`. */
  readonly seen = new Map<string, number>()
  /** Every time that a hint opened. Unit: seconds of the simulation. */
  readonly openings: { readonly id: string; readonly atS: number }[] = []
  readonly #report: NodeReport
  readonly devices: Devices
  readonly #flush: () => void
  readonly #self: Source | undefined
  #nowS: number
  #markS: number
  #wasOpen = new Set<string>()

  constructor(options: SimulatedNodeOptions = {}) {
    const { seed = 1, nodeClass = 'hgx-h100', workload = 'training', startMs = msOfSeconds(START_S), keep } = options
    this.#nowS = secondsOf(BigInt(Math.round(startMs)) * 1_000_000n)
    this.#markS = this.#nowS
    this.node = NODE_CLASSES.find(({ name }) => name === nodeClass) as NodeClass
    const simulation = new Simulation({ seed, node: this.node, workload, effects: [] })
    this.book = new ScenarioBook(simulation)
    this.devices = new Devices({ now: () => msOfSeconds(this.#nowS) })
    this.hints = new Hints({ devices: this.devices })
    const accept = (batch: Batch) => {
      this.devices.accept(batch)
      this.hints.accept(batch)
      keep?.(batch)
    }
    this.#self = keep && createSource({ id: 'self', emit: keep })
    const { context, source } = new SourceOutlet({
      ...{ name: 'simulator', intervalMs: 1000, labels: { simulated: 'true' }, emit: accept },
      paths: { procfs: '/proc', sysfs: '/sys' },
      stats: { failed: { add: fail }, dropped: new Map() },
    })
    this.#report = new NodeReport(simulation, context)
    this.#flush = () => source.flush()
  }

  /** Starts a scenario, now unless the request says later; `seen` begins anew. Gives its onset, as `openings` do. */
  start(request: ScenarioRequest): number {
    const { onsetS } = this.book.start(request, this.#nowS)
    this.#markS = onsetS
    this.seen.clear()
    return onsetS
  }

  /** Ends every scenario that runs. */
  stopAll(): void {
    for (const { id } of this.book.running(this.#nowS)) this.book.stop(id, this.#nowS)
  }

  /** Passes seconds without samples and evaluations. */
  sleep(seconds: number): void {
    this.#nowS += seconds
  }

  /** Passes seconds, a sample each, and an evaluation each quarter of one. */
  run(seconds: number, each?: () => void): void {
    for (let second = 0; second < seconds; second++) {
      this.#nowS++
      const nowMs = msOfSeconds(this.#nowS)
      const time = BigInt(Math.round(nowMs)) * 1_000_000n
      this.#report.sample(time, secondsOf(time))
      this.#flush()
      for (const afterMs of [100, 350, 600, 850]) {
        this.hints.evaluate(nowMs + afterMs)
        this.#inspection(this.#nowS + afterMs / 1000)
      }
      this.#tellSelf({ isLast: false })
      each?.()
    }
  }

  /** Notes the hints that opened since the last call. */
  #inspection(atS: number): void {
    const open = this.open()
    if (open.length === 0 && this.#wasOpen.size === 0) return
    for (const hint of open) {
      checkNumbers(hint)
      const { id } = hint
      if (!this.seen.has(id)) this.seen.set(id, atS - this.#markS)
      if (!this.#wasOpen.has(id)) this.openings.push({ id, atS })
    }
    this.#wasOpen = new Set(open.map(({ id }) => id))
  }

  /** The time of the node. Unit: milliseconds since the Unix epoch. */
  get nowMs(): number {
    return msOfSeconds(this.#nowS) + 850
  }

  /** What an agent says of itself when it stops. */
  stop(): void {
    this.#tellSelf({ isLast: true })
  }

  #tellSelf(how: { readonly isLast: boolean }): void {
    if (this.#self === undefined) return
    this.hints.report(this.#self, how)
    this.#self.collect()
    this.#self.flush()
  }

  open(): readonly Hint[] {
    return this.hints.answer().hints
  }

  shown(): string[] {
    return this.open().map(({ id, stage, severity }) => `${id} ${stage} ${severity}`)
  }
}

/** How long a healthy node is watched before its fault: then its past means are known. Unit: seconds. */
export const WATCHED_S = 75

/** A node of a class with faults on it, some seconds after they began. */
export function struck(nodeClass: string, requests: readonly ScenarioRequest[], afterS: number): HintedNode {
  const node = new HintedNode({ nodeClass })
  node.run(WATCHED_S)
  for (const request of requests) node.start({ durationS: 600, ...request })
  node.run(afterS)
  return node
}

function fail(place: string, error: unknown): never {
  throw new Error(`${place}: ${String(error)}`)
}
