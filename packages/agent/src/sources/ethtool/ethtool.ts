import { SondeError } from '@sonde/sdk'
import type { EthtoolSocket } from '../../native/ethtool.ts'
import { ETHTOOL_MODULE } from '../../places.ts'
import { ReadFailure } from '../kernel-file.ts'
import type { Duty, NodeSource, Probe, SourceContext, SourceDefinition } from '../source.ts'
import { type EthtoolOptions, ethtoolOptions } from './config.ts'
import { ethtoolExplain } from './explain.ts'
import { EthtoolInterface } from './interface.ts'
import { Interfaces } from './interfaces.ts'
import { ethtoolLibrary } from './library.ts'
import { ethtoolDriverType, ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from './type.ts'

/** Interfaces that are read at most; further ones are dropped and counted. */
const INTERFACE_LIMIT = 4096

/** Statistics of network drivers and settings of their links, by the calls that the program `ethtool` makes. */
class EthtoolSource implements NodeSource {
  readonly #options: EthtoolOptions
  readonly #context: SourceContext
  readonly #socket: EthtoolSocket
  readonly #listed: Interfaces
  readonly #interfaces = new Map<string, EthtoolInterface>()
  readonly #list: Duty
  #duties: readonly Duty[]

  constructor(options: EthtoolOptions, context: SourceContext) {
    this.#options = options
    this.#context = context
    this.#socket = context.library as EthtoolSocket
    this.#listed = new Interfaces(options, context.paths)
    this.#list = { device: '', name: 'list', everyUs: context.intervalMs * 1000, run: () => this.#follow() }
    this.#duties = [this.#list]
  }

  probe(): Probe {
    return this.#listed.probe()
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  stuck(device: string): void {
    const reason = `the driver has not answered a call for ${this.#options.stuck_ms} ms`
    this.#interfaces.get(device)?.reportStuck(reason)
  }

  close(): void {
    for (const known of this.#interfaces.values()) known.abandon()
    this.#interfaces.clear()
    this.#duties = [this.#list]
  }

  /** Follows the list of interfaces: reads a new interface, and reports a removed interface as gone. */
  #follow(): void {
    const names = this.#listed.list()
    if (names instanceof ReadFailure) throw names.error
    if (names.length > INTERFACE_LIMIT) this.#context.dropped('interface_limit', names.length - INTERFACE_LIMIT)
    const present = new Set(names.slice(0, INTERFACE_LIMIT))
    const leaving = [...this.#interfaces.keys()].filter((name) => !present.has(name))
    const coming = [...present].filter((name) => !this.#interfaces.has(name))
    for (const name of leaving) {
      this.#interfaces.get(name)?.remove(`interface ${name} is no longer there`)
      this.#interfaces.delete(name)
    }
    for (const name of coming)
      this.#interfaces.set(name, new EthtoolInterface(name, this.#socket, this.#options, this.#context))
    if (leaving.length + coming.length > 0) {
      const { everyUs } = this.#list
      this.#duties = [this.#list, ...[...this.#interfaces.values()].map((known) => this.#dutyOf(known, everyUs))]
    }
    if (present.size > 0) return
    throw new SondeError('SRC_READ', `${this.#listed.folder} no longer has a requested interface`)
  }

  #dutyOf(known: EthtoolInterface, everyUs: number): Duty {
    const { device } = known
    const { stuck_ms: limitMs } = this.#options
    return {
      device,
      name: 'read',
      everyUs,
      paces: 'report',
      limitMs,
      limitKey: 'stuck_ms',
      run: () => this.#read(known),
    }
  }

  async #read(known: EthtoolInterface): Promise<void> {
    await known.read()
    if (![...this.#interfaces.values()].every(({ vanished }) => vanished)) return
    const what = `the kernel knows no interface of ${this.#listed.folder}, which lists ${this.#interfaces.size}`
    throw new SondeError('SRC_READ', `${what}; are they of another network namespace?`)
  }
}

/**
 * Registry row of the ethtool source.
 *
 * @param library Given by tests: what stands in for the C library.
 */
export function ethtoolOf(library?: string): SourceDefinition {
  return {
    name: 'ethtool',
    summary: 'Network adapters by their drivers: port, priorities, lanes, PCIe stalls, link',
    types: [ethtoolLinkType, ethtoolPortType, ethtoolPriorityType, ethtoolLaneType, ethtoolDriverType],
    host: 'ethtool',
    module: ETHTOOL_MODULE,
    intervalMs: 1000,
    options: ethtoolOptions,
    look: (options, paths) => new Interfaces(options as EthtoolOptions, paths).probe(),
    explain: ethtoolExplain,
    load: async () => ({
      library: ethtoolLibrary(library),
      create: (options, context) => new EthtoolSource(options as EthtoolOptions, context),
    }),
  }
}

/** Registry row of the ethtool source. */
export const ethtool: SourceDefinition = ethtoolOf()
