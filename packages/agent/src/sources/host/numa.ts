import { type FieldAbsences, Missing } from '../field-absences.ts'
import type { KernelFile } from '../kernel-file.ts'
import { SeriesPresence } from '../series-presence.ts'
import { DeviceNodes, listNodes, NUMA_FOLDER, SWEEPS_PER_LOOK } from './device-nodes.ts'
import { type HostNuma, parseNodeMeminfo, parseNumastat } from './parse-memory.ts'
import type { HostPartDefinition } from './part.ts'
import type { HostReader } from './reader.ts'
import { hostNumaType } from './type.ts'

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
    const devices = new DeviceNodes(reader)
    const nodes = new Map<string, NumaNode>()
    let sweep = 0
    return {
      sample(time) {
        if (nodes.size === 0 || ++sweep % SWEEPS_PER_LOOK === 0) {
          lookForNodes(reader, nodes)
          if (nodes.size > 0) absences.present('')
          else absences.absent('', 'unsupported', 'the kernel lists no NUMA node')
        }
        devices.read()
        present.startSweep()
        for (const each of nodes.values()) {
          const memory = reader.read(each.meminfo, parseNodeMeminfo)
          const pages = reader.read(each.numastat, parseNumastat)
          if (memory === undefined && pages === undefined) {
            nodes.delete(each.node)
            continue
          }
          const ofDevice = devices.has(each.node)
          const device_memory = ofDevice instanceof Missing ? ofDevice : Number(ofDevice)
          const values = { ...memory, ...pages, device_memory }
          each.absences.tell(values, `${each.meminfo.path} or ${each.numastat.path} does not have it`)
          const record: HostNuma = {
            ...{ ...memory, ...pages },
            ...(device_memory instanceof Missing ? {} : { device_memory }),
          }
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
  for (const node of listNodes(reader)) {
    if (nodes.has(node)) continue
    const file = (attribute: string) => reader.sysfs.file(...NUMA_FOLDER, `node${node}`, attribute)
    const absences = reader.absences(hostNumaType, { numa_node: node })
    nodes.set(node, { node, meminfo: file('meminfo'), numastat: file('numastat'), absences })
  }
}
