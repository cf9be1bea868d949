import type { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import { SeriesPresence } from '../series-presence.ts'
import { type HostNuma, parseNodeMeminfo, parseNumastat } from './parse-memory.ts'
import type { HostPartDefinition } from './part.ts'
import type { HostReader } from './reader.ts'
import { hostNumaType } from './type.ts'

const FOLDER = ['devices', 'system', 'node'] as const
const NODE = /^node(\d{1,4})$/
/** Sweeps between two listings of the nodes. Nodes appear and disappear when memory is plugged or removed. */
const SWEEPS_PER_LOOK = 10

interface NumaNode {
  readonly node: string
  readonly meminfo: KernelFile
  readonly numastat: KernelFile
  readonly absences: FieldAbsences
}

/** NUMA nodes; each has two files. */
export const numa: HostPartDefinition = {
  types: [hostNumaType],
  create(reader) {
    const absences = reader.absences(hostNumaType)
    const present = new SeriesPresence(reader.context.absences, hostNumaType, 'numa_node')
    const nodes = new Map<string, NumaNode>()
    let sweep = 0
    return {
      sample(time) {
        if (nodes.size === 0 || ++sweep % SWEEPS_PER_LOOK === 0) {
          lookForNodes(reader, nodes)
          if (nodes.size > 0) absences.present('')
          else absences.absent('', 'unsupported', 'the kernel lists no NUMA node')
        }
        present.startSweep()
        for (const each of nodes.values()) {
          const memory = reader.read(each.meminfo, parseNodeMeminfo)
          const pages = reader.read(each.numastat, parseNumastat)
          if (memory === undefined && pages === undefined) {
            nodes.delete(each.node)
            continue
          }
          const record: HostNuma = { ...memory, ...pages }
          each.absences.tell(record, `${each.meminfo.path} or ${each.numastat.path} does not have it`)
          present.met(each.node)
          reader.context.source.report(hostNumaType, { time, numa_node: each.node, ...record })
        }
        present.endSweep('the NUMA node is no longer there')
        return nodes.size > 0
      },
    }
  },
}

function lookForNodes(reader: HostReader, nodes: Map<string, NumaNode>): void {
  const listed = reader.sysfs.list(...FOLDER)
  for (const name of listed instanceof ReadFailure ? [] : listed) {
    const node = NODE.exec(name)?.[1]
    if (node === undefined || nodes.has(node)) continue
    const file = (attribute: string) => reader.sysfs.file(...FOLDER, name, attribute)
    const absences = reader.absences(hostNumaType, { numa_node: node })
    nodes.set(node, { node, meminfo: file('meminfo'), numastat: file('numastat'), absences })
  }
}
