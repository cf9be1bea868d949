import type { HintDevice, WhichNode } from '../device.ts'
import { Inspection } from './inspection.ts'

/**
 * The devices of one node, real or simulated, at one instant. Devices are only compared within their node. An agent
 * that reads exporters of other nodes has a scope for each node.
 */
export class Scope {
  /** Time of the evaluation. Unit: milliseconds since the Unix epoch. */
  #nowMs = 0
  /** The node as a device, for hints that are not about a single device. */
  readonly node: HintDevice
  readonly gpus: Inspection[] = []
  /** NICs that belong to a GPU and so serve training. */
  readonly rails: Inspection[] = []
  readonly nics: Inspection[] = []
  /** NICs, and hardware interfaces without a NIC. */
  readonly ports: Inspection[] = []
  readonly #inspections = new Map<string, Inspection>()
  readonly #once = new Map<string, unknown>()
  readonly #isOpen: (rule: string, device: string) => boolean

  /** @param host Host of a node without an agent; empty for the agent's own host. */
  constructor(node: WhichNode, host: string, isOpen: (rule: string, device: string) => boolean) {
    const isSimulated = node === 'simulated'
    const id = isSimulated ? 'sim-node' : 'node'
    this.node = {
      id: host === '' ? id : `${id}@${host}`,
      kind: 'pci',
      name: host === '' ? 'the node' : `the node ${host}`,
      rail: null,
      isSimulated,
      host,
      pairs: [],
      address: '',
      path: [],
      limits: {},
    }
    this.#isOpen = isOpen
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** Starts another instant. */
  set nowMs(nowMs: number) {
    this.#nowMs = nowMs
    this.#once.clear()
  }

  /** A value that is computed once an instant, for all rules and devices. */
  once<T>(key: string, make: () => T): T {
    if (!this.#once.has(key)) this.#once.set(key, make())
    return this.#once.get(key) as T
  }

  /** The signals of a device. The first call for a device adds it. */
  of(device: HintDevice): Inspection {
    const known = this.#inspections.get(device.id)
    if (known !== undefined) return known
    const inspection = new Inspection(device, this)
    this.#inspections.set(device.id, inspection)
    if (device.kind === 'gpu') this.gpus.push(inspection)
    if (device.kind === 'nic' || (device.kind === 'netdev' && device.address !== '')) this.ports.push(inspection)
    if (device.kind === 'nic') {
      this.nics.push(inspection)
      if (device.rail !== null) this.rails.push(inspection)
    }
    return inspection
  }

  /** Whether a device, or the node itself, belongs to this scope. */
  has(id: string): boolean {
    return id === this.node.id || this.#inspections.has(id)
  }

  /** The signals of a known device; undefined if it is unknown. */
  at(id: string): Inspection | undefined {
    return this.#inspections.get(id)
  }

  /** The signals of all devices and of the node itself. */
  get inspections(): Inspection[] {
    return [...this.#inspections.values()]
  }

  /** Other devices of the same kind that do the same work. */
  siblings(inspection: Inspection): readonly Inspection[] {
    return this.#peersOf(inspection.device).filter((other) => other !== inspection)
  }

  /** NICs without a GPU are only compared if no NIC has a GPU: beside rails, they serve other purposes. */
  #peersOf({ kind, rail }: HintDevice): readonly Inspection[] {
    if (kind === 'gpu') return this.gpus
    if (rail !== null) return this.rails
    return kind === 'nic' && this.rails.length === 0 ? this.nics : []
  }

  /** Whether a hint of the rule is open on the device. */
  isOpen(rule: string, device: HintDevice): boolean {
    return this.#isOpen(rule, device.id)
  }
}
