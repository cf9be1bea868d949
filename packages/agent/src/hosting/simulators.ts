import { SondeError } from '@sonde/sdk'
import type { SimulatorAnswers, SimulatorCommand } from '../sources/simulator/commands.ts'
import type { ConfiguredSource } from '../sources/source.ts'
import type { RunningSource } from './running-source.ts'

/** Kinds of sources that show a simulated node; the first of them that runs is commanded. */
const KINDS = ['simulator', 'simulator_diag']
/** The parameters of the simulated node of a source. */
const NODE_KEYS = ['seed', 'node_class', 'workload'] as const
/** In this time those that follow have heard of a command, before it changes anything. Unit: milliseconds. */
const LEAD_MS = 100

/** The sources that show a simulated node. Commands go to one of them; the others of the same node follow it. */
export class Simulators {
  /** The leading simulator, which receives commands; undefined if there is none. */
  leader: RunningSource | undefined
  #followers: readonly RunningSource[] = []

  constructor(configs: readonly ConfiguredSource[], sources: readonly RunningSource[]) {
    this.look(configs, sources)
  }

  /** Determines the leader and the followers among sources, new sources included. */
  look(configs: readonly ConfiguredSource[], sources: readonly RunningSource[]): void {
    const all = KINDS.flatMap((kind) => sources.filter(({ definition }) => definition.name === kind))
    const nodeOf = ({ name }: RunningSource) => {
      const options = (configs.find((config) => config.name === name)?.options ?? {}) as Record<string, unknown>
      return NODE_KEYS.map((key) => String(options[key])).join()
    }
    const [leader, ...others] = all
    this.leader = leader
    this.#followers = leader === undefined ? [] : others.filter((other) => nodeOf(other) === nodeOf(leader))
  }

  /**
   * Has the node answer a command; a change shows in all sources of the node.
   *
   * @throws SondeError `SIM_OFF` if there is none; that of the simulator where it refuses.
   */
  async ask<C extends Extract<SimulatorCommand, { kind: 'describe' | 'start' | 'stop' }>>(
    command: C,
  ): Promise<SimulatorAnswers[C['kind']]> {
    const { leader } = this
    if (leader === undefined) throw new SondeError('SIM_OFF', 'no simulator runs here; start sonde with --simulate')
    const isLed = command.kind !== 'describe' && this.#followers.length > 0
    const answer = await leader.command(isLed ? { ...command, leadMs: LEAD_MS } : command)
    if (isLed) await Promise.all(this.#followers.map((follower) => this.#tell(follower)))
    return answer as SimulatorAnswers[C['kind']]
  }

  /** A source reads, again perhaps in another host: where it follows, it hears what was commanded before. */
  async reads(source: string): Promise<void> {
    const follower = this.#followers.find(({ name }) => name === source)
    if (follower !== undefined) await this.#tell(follower)
  }

  async #tell(follower: RunningSource): Promise<void> {
    try {
      await follower.command({ kind: 'follow', state: await this.leader?.command({ kind: 'state' }) })
    } catch (error) {
      // It hears of it when it reads again.
      if (!(error instanceof SondeError) || error.code !== 'AGT_CHILD_EXIT') throw error
    }
  }
}
