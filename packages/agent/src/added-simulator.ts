import { SondeError } from '@sonde/sdk'
import { type AgentConfig, destinationsOf } from './config.ts'
import type { Devices } from './devices/devices.ts'
import type { Hosts } from './hosting/hosts.ts'
import type { Simulators } from './hosting/simulators.ts'
import { checkDataSources, type DataSourceConfig } from './sources/data-sources.ts'

/** Kind and name of the source that is added. */
const SIMULATOR = 'simulator'

/** Options of {@link AddedSimulator}. */
export interface AddedSimulatorParts {
  readonly config: AgentConfig
  readonly devices: Devices
  readonly hosts: Hosts
  readonly simulators: Simulators
}

/** Starts the simulated node while the agent runs, as `--simulate` does at its start. */
export class AddedSimulator {
  readonly #parts: AddedSimulatorParts
  #added: readonly DataSourceConfig[] = []

  constructor(parts: AddedSimulatorParts) {
    this.#parts = parts
  }

  /** Every source that was configured or added, with its settings. */
  get dataSources(): readonly DataSourceConfig[] {
    return [...this.#parts.config.dataSources, ...this.#added]
  }

  /**
   * Why the simulated node cannot be started while the agent runs, as a sentence; empty if it can: on a machine
   * without hardware of its own to show, from which nothing simulated would leave.
   */
  get refusal(): string {
    const { config, devices, simulators } = this.#parts
    const hasHardware = ({ kind, isSimulated }: { readonly kind: string; readonly isSimulated: boolean }) =>
      !isSimulated && (kind === 'gpu' || kind === 'nic')
    if (simulators.leader !== undefined) return 'a simulated node runs here already'
    if (this.dataSources.some(({ name }) => name === SIMULATOR))
      return `a source is called ${SIMULATOR}; start sonde with --simulate`
    if (devices.list().some(hasHardware)) return 'this machine has GPUs or NICs of its own; start sonde with --simulate'
    if (destinationsOf(config).length > 0)
      return 'records are exported, and simulated ones would be among them; start sonde with --simulate'
    return ''
  }

  /**
   * Starts the simulated node, until the agent ends.
   *
   * @throws SondeError `SIM_OFF` where {@link refusal} says why not.
   */
  start(): void {
    const { hosts, simulators } = this.#parts
    const reason = this.refusal
    if (reason !== '') throw new SondeError('SIM_OFF', `the simulated node is not started: ${reason}`)
    const checked = checkDataSources([{ type: SIMULATOR }])
    if (!checked.ok) throw new Error(`the simulator has no defaults: ${JSON.stringify(checked.issues)}`)
    this.#added = checked.value
    for (const source of checked.value) hosts.add(source)
    simulators.look(this.dataSources, hosts.sources)
  }
}
