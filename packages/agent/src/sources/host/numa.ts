import { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { SeriesPresence } from '../series-presence.ts'
import type { SourceContext } from '../source.ts'
import { type HostNuma, parseNodeMeminfo, parseNumastat } from './parse-memory.ts'
import type { HostPart, HostReader } from './reader.ts'
import { hostNumaType } from './type.ts'

const FOLDER = ['devices', 'system', 'node'] as const
const NODE = /^node(\d{1,4})$/
/** Sweeps after which the list of nodes is looked at again: they come and go with memory that is plugged. */
const SWEEPS_PER_LOOK = 10

interface NumaNode {
  readonly node: string
  readonly meminfo: KernelFile
  readonly numastat: KernelFile
  readonly absences: FieldAbsences
}

/** NUMA nodes, two files each. */
export class Numa implements HostPart {
  readonly #context: SourceContext
  readonly #reader: HostReader
  readonly #sysfs: KernelFiles
  readonly #absences: FieldAbsences
  readonly #nodes = new Map<string, NumaNode>()
  readonly #present: SeriesPresence
  #sweep = 0

  constructor(context: SourceContext, reader: HostReader, sysfs: KernelFiles, absences: FieldAbsences) {
    this.#context = context
    this.#reader = reader
    this.#sysfs = sysfs
    this.#absences = absences
    this.#present = new SeriesPresence(context.absences, hostNumaType, 'node')
  }

  sample(time: bigint): boolean {
    if (this.#nodes.size === 0 || ++this.#sweep % SWEEPS_PER_LOOK === 0) this.#look()
    this.#present.startSweep()
    for (const each of this.#nodes.values()) {
      const memory = this.#reader.read(each.meminfo, [], parseNodeMeminfo)
      const pages = this.#reader.read(each.numastat, [], parseNumastat)
      if (memory === undefined && pages === undefined) {
        this.#nodes.delete(each.node)
        continue
      }
      const record: HostNuma = { ...memory, ...pages }
      each.absences.tell(record, `${each.meminfo.path} or ${each.numastat.path} does not say`)
      this.#present.met(each.node)
      this.#context.source.report(hostNumaType, { time, node: each.node, ...record })
    }
    this.#present.endSweep('the NUMA node is no longer there')
    return this.#nodes.size > 0
  }

  #look(): void {
    const listed = this.#sysfs.list(...FOLDER)
    const names = listed instanceof ReadFailure ? [] : listed
    for (const name of names) {
      const node = NODE.exec(name)?.[1]
      if (node === undefined || this.#nodes.has(node)) continue
      const file = (attribute: string) => this.#sysfs.file(...FOLDER, name, attribute)
      const absences = new FieldAbsences(this.#context.absences, hostNumaType, { node })
      this.#nodes.set(node, { node, meminfo: file('meminfo'), numastat: file('numastat'), absences })
    }
    if (this.#nodes.size > 0) this.#absences.present('')
    else this.#absences.absent('', 'unsupported', 'the kernel lists no NUMA node')
  }
}
