import { Missing } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import { parseCpuList } from './parse-sysfs.ts'
import type { HostReader } from './reader.ts'

/** Folder of the NUMA nodes below sysfs. */
export const NUMA_FOLDER = ['devices', 'system', 'node'] as const
const NODE = /^node(\d{1,4})$/
/** Sweeps between two listings of the nodes. Nodes appear and disappear when memory is plugged or removed. */
export const SWEEPS_PER_LOOK = 10
const NEWLINE = 10

/**
 * Tells memory of the host from memory of a device, such as a GPU of Grace: the kernel lists both as NUMA nodes. A node
 * of a device has no CPU, and the firmware names the device as its generic initiator. Memory on CXL has neither, and is
 * memory of the host. Kernels before 5.10 list no initiators: there, every node without a CPU is one of a device.
 */
export class DeviceNodes {
  readonly #reader: HostReader
  readonly #cpuFile: KernelFile
  readonly #initiatorFile: KernelFile
  #withCpu: NodeSet | Missing | undefined
  #initiators: NodeSet | Missing | undefined

  constructor(reader: HostReader) {
    this.#reader = reader
    this.#cpuFile = reader.sysfs.file(...NUMA_FOLDER, 'has_cpu')
    this.#initiatorFile = reader.sysfs.file(...NUMA_FOLDER, 'has_generic_initiator')
  }

  /** Reads the lists of the kernel. */
  read(): void {
    this.#withCpu = this.#reader.value(this.#cpuFile, parseNodes)
    this.#initiators = this.#readInitiators()
  }

  /** Returns whether a node holds memory of a device, or why this is not known. */
  has(node: string): boolean | Missing {
    if (!(this.#withCpu instanceof NodeSet)) return this.#withCpu ?? false
    if (this.#withCpu.has(Number(node))) return false
    if (this.#initiators instanceof Missing) return this.#initiators
    return this.#initiators?.has(Number(node)) !== false
  }

  /** Undefined for a kernel without the file. */
  #readInitiators(): NodeSet | Missing | undefined {
    const file = this.#initiatorFile
    const bytes = file.read()
    if (bytes instanceof ReadFailure) {
      if (bytes.kind === 'missing') return undefined
      this.#reader.failed(file.path, bytes.error)
      return new Missing(bytes.code, bytes.words)
    }
    const nodes = parseNodes(bytes)
    return nodes instanceof NodeSet ? nodes : this.#reader.wrong(file, nodes)
  }
}

class NodeSet extends Set<number> {}

/** Parses a list of nodes, such as `0,2-8`. The kernel writes an empty line if there are none. */
function parseNodes(bytes: Uint8Array): NodeSet | string {
  const list = bytes.length === 1 && bytes[0] === NEWLINE ? [] : parseCpuList(bytes)
  return list === undefined ? 'gives no list of NUMA nodes' : new NodeSet(list)
}

/** The numbers of the nodes that the kernel lists now. */
export function listNodes(reader: HostReader): string[] {
  const listed = reader.sysfs.list(...NUMA_FOLDER)
  return (listed instanceof ReadFailure ? [] : listed).flatMap((name) => NODE.exec(name)?.[1] ?? [])
}
