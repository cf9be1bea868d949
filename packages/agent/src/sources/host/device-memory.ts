import { Missing } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import { DeviceNodes, listNodes, NUMA_FOLDER, SWEEPS_PER_LOOK } from './device-nodes.ts'
import { type HostMemory, MEMORY_FIELDS, readMemory } from './parse.ts'
import type { HostReader } from './reader.ts'

/** The fields that the kernel splits by node, by their names there. */
const NODE_FIELDS: ReadonlyMap<string, keyof HostMemory> = new Map([...MEMORY_FIELDS, ['FilePages', 'cached_bytes']])
/** The kernel estimates available memory for all nodes only: it is free, or can be reclaimed. */
const AVAILABLE = new Map(
  (['MemFree', 'Active(file)', 'Inactive(file)', 'SReclaimable'] as const).map((name) => [name, name]),
)

/** The part of `/proc/meminfo` that is memory of devices. */
export class DeviceMemory {
  readonly #reader: HostReader
  readonly #nodes: DeviceNodes
  #files: readonly KernelFile[] = []
  /** Why it is not known which nodes are those of devices. */
  #unknown: Missing | undefined
  #sweep = 0

  constructor(reader: HostReader) {
    this.#reader = reader
    this.#nodes = new DeviceNodes(reader)
  }

  /** Returns the memory without that of devices, or why this cannot be told. */
  leaveOut(whole: HostMemory): HostMemory | string {
    if (this.#sweep++ % SWEEPS_PER_LOOK === 0) this.#look()
    if (this.#unknown !== undefined) return `may include memory of devices: ${this.#unknown.reason}`
    const host = { ...whole }
    for (const file of this.#files) {
      const bytes = file.read()
      // A node that has left is no longer a part of the whole.
      if (bytes instanceof ReadFailure && bytes.kind === 'missing') continue
      const part = bytes instanceof ReadFailure ? {} : readMemory(bytes, NODE_FIELDS)
      if (bytes instanceof ReadFailure || part.total_bytes === undefined) {
        return `includes memory of a device, whose size ${file.path} does not give`
      }
      part.available_bytes = Object.values(readMemory(bytes, AVAILABLE)).reduce((sum, each) => sum + each, 0)
      subtract(host, part)
    }
    return host
  }

  #look(): void {
    for (const file of this.#files) file.close()
    this.#nodes.read()
    const known = listNodes(this.#reader).map((node) => [node, this.#nodes.has(node)] as const)
    // A single node is that of the host.
    this.#unknown =
      known.length < 2 ? undefined : known.map(([, found]) => found).find((found) => found instanceof Missing)
    this.#files = known
      .filter(([, ofDevice]) => ofDevice === true)
      .map(([node]) => this.#reader.sysfs.file(...NUMA_FOLDER, `node${node}`, 'meminfo'))
  }
}

function subtract(whole: HostMemory, part: { readonly [F in keyof HostMemory]?: number }): void {
  for (const [name, bytes] of Object.entries(part)) {
    const field = name as keyof HostMemory
    const value = whole[field]
    // The two files are read one after the other.
    if (value !== undefined) whole[field] = Math.max(0, Number(value) - bytes)
  }
}
