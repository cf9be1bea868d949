import type { HintDevice, WhichNode } from '../device.ts'
import { Look } from './look.ts'

/**
 * The devices of one node, real or simulated, at one instant. Devices are compared with those of their own node alone.
 * An agent that asks exporters of other nodes has a scope for each of them.
 */
export class Scope {
  /** When it is looked at. Unit: milliseconds since the Unix epoch. */
  #nowMs = 0
  /** The node as a device: that of a hint which is about no single one. */
  readonly node: HintDevice
  readonly gpus: Look[] = []
  /** NICs that belong to a GPU, those that serve training. */
  readonly rails: Look[] = []
  readonly nics: Look[] = []
  /** NICs, and interfaces that are hardware without being one. */
  readonly ports: Look[] = []
  readonly #looks = new Map<string, Look>()
  readonly #once = new Map<string, unknown>()
  readonly #isOpen: (rule: string, device: string) => boolean

  /** `host` is that of a node on which the agent does not run; empty for the agent's own. */
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

  /** Begins to look at another instant. */
  set nowMs(nowMs: number) {
    this.#nowMs = nowMs
    this.#once.clear()
  }

  /** What is worked out once an instant, for all rules and devices. */
  once<T>(key: string, make: () => T): T {
    if (!this.#once.has(key)) this.#once.set(key, make())
    return this.#once.get(key) as T
  }

  /** The look at a device, made on first sight. */
  of(device: HintDevice): Look {
    const known = this.#looks.get(device.id)
    if (known !== undefined) return known
    const look = new Look(device, this)
    this.#looks.set(device.id, look)
    if (device.kind === 'gpu') this.gpus.push(look)
    if (device.kind === 'nic' || (device.kind === 'netdev' && device.address !== '')) this.ports.push(look)
    if (device.kind === 'nic') {
      this.nics.push(look)
      if (device.rail !== null) this.rails.push(look)
    }
    return look
  }

  /** Whether a device, or the node itself, belongs to it. */
  has(id: string): boolean {
    return id === this.node.id || this.#looks.has(id)
  }

  /** The look at a device that is known; undefined if it is not. */
  at(id: string): Look | undefined {
    return this.#looks.get(id)
  }

  /** The looks at all devices, and at the node itself. */
  get looks(): Look[] {
    return [...this.#looks.values()]
  }

  /** Other devices of the same kind that do the same work. */
  siblings(look: Look): readonly Look[] {
    return this.#peersOf(look.device).filter((other) => other !== look)
  }

  /** NICs without a GPU are peers only if none has one: beside rails they serve something else. */
  #peersOf({ kind, rail }: HintDevice): readonly Look[] {
    if (kind === 'gpu') return this.gpus
    if (rail !== null) return this.rails
    return kind === 'nic' && this.rails.length === 0 ? this.nics : []
  }

  /** Whether a hint of the rule is open on the device. */
  isOpen(rule: string, device: HintDevice): boolean {
    return this.#isOpen(rule, device.id)
  }
}
