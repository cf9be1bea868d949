import type { StartedScenario } from '@sonde/sdk/api'
import type { SourceContext } from '../source.ts'
import { NODE_CLASSES } from './classes/classes.ts'
import type { NodeClass } from './classes/node-class.ts'
import type { SimulatorAnswers, SimulatorCommand } from './commands.ts'
import type { SimulatorOptions } from './config.ts'
import { type RunningScenario, ScenarioBook } from './scenarios/book.ts'
import { deviceId, targetsOf } from './scenarios/devices.ts'
import { parseScenario } from './scenarios/flag.ts'
import { playPast } from './scenarios/past.ts'
import { parseRequest } from './scenarios/request.ts'
import { SCENARIOS } from './scenarios/scenarios.ts'
import { Simulation } from './simulation.ts'
import { msOfSeconds, secondsOfMs } from './time.ts'

/**
 * Plays scenarios on a simulated node: starts those of the configuration, and answers commands. Two sources of an agent
 * with the same options show the same node, because their scenarios start with the agent. For scenarios that start
 * later, one source sends its state to the other.
 */
export class ScenarioPlay {
  readonly simulation: Simulation
  readonly #book: ScenarioBook

  constructor(
    { seed, node_class, workload, scenarios, past_s: pastS }: SimulatorOptions,
    { intervalMs, startedMs }: Pick<SourceContext, 'intervalMs' | 'startedMs'>,
  ) {
    const startedS = secondsOfMs(startedMs)
    this.simulation = simulationOf({ seed, node_class, workload, past_s: pastS }, startedS)
    // Profiling values are means over an interval.
    const lookBackS = Math.max(60, (2 * intervalMs) / 1000)
    // Counts of the past remain.
    if (pastS > 0) this.simulation.forget(startedS - lookBackS)
    this.#book = new ScenarioBook(this.simulation, lookBackS)
    for (const request of scenarios.map(parseScenario)) this.#book.start(request, startedS)
  }

  /** Answers a {@link SimulatorCommand}. */
  command(command: unknown): SimulatorAnswers[SimulatorCommand['kind']] {
    const asked = command as SimulatorCommand
    const nowMs = Date.now()
    switch (asked.kind) {
      case 'start': {
        const sinceS = secondsOfMs(nowMs + (asked.leadMs ?? 0))
        return describeRunning(this.#book.start(parseRequest(asked.request), sinceS), nowMs)
      }
      case 'stop':
        this.#book.stop(asked.id, secondsOfMs(nowMs + (asked.leadMs ?? 0)))
        return null
      case 'state':
        return this.simulation.state
      case 'follow':
        this.simulation.follow(asked.state)
        return null
      default:
        return this.#describe(nowMs)
    }
  }

  #describe(nowMs: number): SimulatorAnswers['describe'] {
    const { node, seed } = this.simulation
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

function describeRunning(
  { id, name, device, onsetS, endS, severity }: RunningScenario,
  nowMs: number,
): StartedScenario {
  const onsetMs = Math.round(msOfSeconds(onsetS))
  const state = onsetMs > nowMs ? 'waiting' : 'running'
  return { id, name, device, onsetMs, endMs: Math.round(msOfSeconds(endS)), severity, state }
}

/** A simulated node with its past, of which nothing is forgotten. Unit of `startedS`: seconds since the epoch. */
export function simulationOf(
  { seed, node_class, workload, past_s: pastS }: Omit<SimulatorOptions, 'scenarios'>,
  startedS: number,
): Simulation {
  const simulation = new Simulation({ seed, node: nodeOf(node_class), workload, effects: [] })
  if (pastS > 0) playPast(simulation, { fromS: startedS - pastS, toS: startedS })
  return simulation
}

/** The node class of a name that the options allow. */
function nodeOf(name: string): NodeClass {
  return NODE_CLASSES.find((each) => each.name === name) as NodeClass
}

/**
 * Tries the configured scenarios without a node, so that errors are reported before anything runs.
 *
 * @throws SondeError of the first scenario that cannot be played.
 */
export function rehearse({
  seed,
  node_class,
  scenarios,
}: Pick<SimulatorOptions, 'seed' | 'node_class' | 'scenarios'>): void {
  const node = nodeOf(node_class)
  const book = new ScenarioBook({ node, seed, setEffects: () => undefined, forget: () => 0 })
  for (const request of scenarios.map(parseScenario)) book.start(request, 0)
}
