import { wallNs } from '@sonde/sdk'
import { turn } from '@sonde/sdk/internal'
import type { SampledSource } from '../sampled.ts'
import type { Probe, SourceContext } from '../source.ts'
import { NODE_CLASSES } from './classes/classes.ts'
import type { NodeClass } from './classes/node-class.ts'
import type { SimulatorAnswers, SimulatorCommand, ToldScenario } from './commands.ts'
import type { SimulatorOptions } from './config.ts'
import { NodeReport } from './report/node-report.ts'
import { type RunningScenario, ScenarioBook } from './scenarios/book.ts'
import { deviceId, targetsOf } from './scenarios/devices.ts'
import { parseScenario } from './scenarios/flag.ts'
import { parseRequest } from './scenarios/request.ts'
import { SCENARIOS } from './scenarios/scenarios.ts'
import { Simulation } from './simulation.ts'
import { msOfSeconds, secondsOf, secondsOfMs } from './time.ts'

/** A simulated node: reports what the sources of real hardware report. All that is in it, {@link Simulation} says. */
export class SimulatedNode implements SampledSource {
  readonly #simulation: Simulation
  /** What happens to the node; scenarios are started and ended here. */
  readonly #book: ScenarioBook
  readonly #context: SourceContext
  #report: NodeReport | undefined

  /** Starts the scenarios of the configuration. */
  constructor({ seed, node_class, workload, scenarios }: SimulatorOptions, context: SourceContext) {
    const node = nodeOf(node_class)
    this.#simulation = new Simulation({ seed, node, workload, effects: [] })
    // Profiling values are means over an interval.
    this.#book = new ScenarioBook(this.#simulation, Math.max(60, (2 * context.intervalMs) / 1000))
    this.#context = context
    const nowS = secondsOf(wallNs())
    for (const request of scenarios.map(parseScenario)) this.#book.start(request, nowS)
  }

  probe(): Probe {
    return { state: 'present', found: `simulated ${this.#simulation.node.name}` }
  }

  async sample(): Promise<void> {
    this.#report ??= new NodeReport(this.#simulation, this.#context)
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

  /** Answers a {@link SimulatorCommand}. */
  command(command: unknown): SimulatorAnswers[SimulatorCommand['kind']] {
    const asked = command as SimulatorCommand
    const nowMs = Date.now()
    if (asked.kind === 'start')
      return describeRunning(this.#book.start(parseRequest(asked.request), secondsOfMs(nowMs)), nowMs)
    if (asked.kind === 'stop') {
      this.#book.stop(asked.id, secondsOfMs(nowMs))
      return null
    }
    return this.#describe(nowMs)
  }

  #describe(nowMs: number): SimulatorAnswers['describe'] {
    const { node, seed } = this.#simulation
    return {
      nodeClass: node.name,
      seed,
      scenarios: SCENARIOS.map((scenario) => {
        const { name, summary, target, severity, durationS } = scenario
        const targets = targetsOf(node, scenario).map((device) => deviceId(node, device))
        return { name, summary, target, targets, severity, durationS }
      }),
      running: this.#book.running(secondsOfMs(nowMs)).map((entry) => describeRunning(entry, nowMs)),
    }
  }
}

function describeRunning({ id, name, device, onsetS, endS, severity }: RunningScenario, nowMs: number): ToldScenario {
  const onsetMs = Math.round(msOfSeconds(onsetS))
  const state = onsetMs > nowMs ? 'waiting' : 'running'
  return { id, name, device, onsetMs, endMs: Math.round(msOfSeconds(endS)), severity, state }
}

function nodeOf(name: string): NodeClass {
  return NODE_CLASSES.find((each) => each.name === name) as NodeClass
}

/**
 * Plays the scenarios of the start without a node: what cannot be played is told before anything runs.
 *
 * @throws SondeError of the first of them.
 */
export function rehearse({ seed, node_class, scenarios }: SimulatorOptions): void {
  const node = nodeOf(node_class)
  const book = new ScenarioBook({ node, seed, setEffects: () => undefined, forget: () => 0 })
  for (const request of scenarios.map(parseScenario)) book.start(request, 0)
}
