import { wallNs } from '@sonde/sdk'
import { turn } from '@sonde/sdk/internal'
import type { SampledSource } from '../sampled.ts'
import type { Probe, SourceContext } from '../source.ts'
import type { SimulatorOptions } from './config.ts'
import { NodeReport } from './report/node-report.ts'
import { ScenarioPlay } from './scenario-play.ts'
import { secondsOf } from './time.ts'

/** A simulated node: reports the same records as the sources of real hardware, with values from `Simulation`. */
export class SimulatedNodeSource implements SampledSource {
  readonly #play: ScenarioPlay
  readonly #context: SourceContext
  #report: NodeReport | undefined

  /** Starts the scenarios of the configuration. */
  constructor(options: SimulatorOptions, context: SourceContext) {
    this.#play = new ScenarioPlay(options, context)
    this.#context = context
  }

  probe(): Probe {
    return { state: 'present', found: `simulated ${this.#play.simulation.node.name}` }
  }

  async sample(): Promise<void> {
    this.#report ??= new NodeReport(this.#play.simulation, this.#context)
    const report = this.#report
    const time = wallNs()
    for (const _part of report.parts(time, secondsOf(time))) {
      if (!turn.isOver()) continue
      await turn.next()
      if (this.#report !== report) return
    }
  }

  close(): void {
    this.#report = undefined
  }

  /** Answers a `SimulatorCommand`. */
  command(command: unknown): unknown {
    return this.#play.command(command)
  }
}
