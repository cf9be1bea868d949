import { SondeError, wallNs } from '@sonde/sdk'
import { countOf } from '@sonde/sdk/internal'
import { deviceFilter } from '../device-filter.ts'
import { ATTRIBUTE_BYTES_LIMIT, type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { type SampledSource, sampled } from '../sampled.ts'
import type { Probe, SourceContext, SourceDefinition } from '../source.ts'
import { leastReads } from '../turns.ts'
import { type NetdevOptions, netdevOptions } from './config.ts'
import { netdevExplain } from './explain.ts'
import { NetdevInterface } from './interface.ts'
import { type NetdevTable, parseNetdev } from './parse.ts'
import { netdevCarrierType, netdevType } from './type.ts'

/**
 * Interfaces whose attributes are read in one sweep, more where a turn would last too long; with more, each has its
 * turn. Keeps a sweep of any size under 1 ms.
 */
const REFRESH_LIMIT = 50

const TYPES = [netdevType, netdevCarrierType]

/** Network interfaces by the kernel's own counters: one read for all of them, and a few attributes each from sysfs. */
class NetdevSource implements SampledSource {
  readonly #context: SourceContext
  readonly #wanted: (device: string) => boolean
  readonly #procfs: KernelFiles
  readonly #sysfs: KernelFiles
  readonly #table: KernelFile
  /** Bounded by the size limit of the table's file: a line is longer than 100 bytes. */
  readonly #interfaces = new Map<string, NetdevInterface>()
  #sweep = 0
  #turn = 0

  constructor(options: NetdevOptions, context: SourceContext) {
    this.#context = context
    this.#wanted = deviceFilter(options.devices)
    this.#procfs = new KernelFiles(context.paths.procfs)
    this.#sysfs = new KernelFiles(context.paths.sysfs, { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT })
    this.#table = this.#procfs.file('net', 'dev')
  }

  probe(): Probe {
    const bytes = this.#table.readAnew()
    if (bytes instanceof ReadFailure) return bytes.probe
    const { records } = parseNetdev(bytes, 0n)
    const count = records.filter(({ device }) => this.#wanted(device)).length
    if (count > 0) return { state: 'present', found: countOf(count, 'interface') }
    return {
      state: 'absent',
      reason: `no interface of ${this.#table.path}, which lists ${records.length}, is wanted`,
    }
  }

  found(): string {
    return countOf(this.#interfaces.size, 'interface')
  }

  sample(): void {
    const table = this.#readTable()
    if (table.malformed !== undefined) this.#leftOut(`not an interface: ${JSON.stringify(table.malformed)}`)
    this.#sweep++
    const wanted = table.records.filter(({ device }) => this.#wanted(device))
    const reads = Math.max(REFRESH_LIMIT, leastReads(wanted.length, this.#context.intervalMs))
    for (const [index, record] of wanted.entries()) {
      const known = this.#interfaceOf(record.device, table.folders.get(record.device))
      if (known.sweep === this.#sweep) {
        this.#leftOut(`a second line of ${JSON.stringify(record.device)}`)
        continue
      }
      known.sweep = this.#sweep
      const isRead = this.#refresh(known, index, wanted.length, reads)
      known.complete(record)
      this.#context.source.report(netdevType, record)
      if (isRead) this.#context.source.report(netdevCarrierType, known.carrierRecord(record.time))
    }
    this.#turn += reads
    this.#forgetGone()
  }

  close(): void {
    this.#procfs.close()
    this.#sysfs.close()
  }

  #readTable(): NetdevTable {
    const bytes = this.#table.read()
    if (bytes instanceof ReadFailure) throw bytes.error
    const table = parseNetdev(bytes, wallNs())
    if (table.records.length === 0 && (bytes.length === 0 || table.malformed !== undefined)) {
      throw new SondeError('SRC_READ', `${this.#table.path} lists no interface; is it the kernel's own file?`)
    }
    return table
  }

  /**
   * Opens one interface again in each sweep, and reads the interfaces whose turn it is; the others keep their last
   * values. Returns whether the interface was read.
   */
  #refresh(known: NetdevInterface, index: number, count: number, reads: number): boolean {
    if (index === this.#sweep % count) known.reopen()
    else if ((index - (this.#turn % count) + count) % count < reads) known.refresh()
    else return false
    return true
  }

  #leftOut(what: string): void {
    this.#context.failed(this.#table.path, new SondeError('SRC_READ', `${this.#table.path}: left out ${what}`))
  }

  #interfaceOf(device: string, folder: string | Buffer = device): NetdevInterface {
    let known = this.#interfaces.get(device)
    if (known === undefined) {
      known = new NetdevInterface(device, folder, this.#sysfs, this.#context)
      this.#interfaces.set(device, known)
    }
    return known
  }

  #forgetGone(): void {
    for (const [device, known] of this.#interfaces) {
      if (known.sweep === this.#sweep) continue
      known.close()
      this.#interfaces.delete(device)
      for (const type of TYPES) {
        this.#context.absences.gone(type, { device }, `interface ${device} is no longer there`)
      }
    }
  }
}

/** Registry row of the netdev source. */
export const netdev: SourceDefinition = {
  name: 'netdev',
  summary: 'Network interfaces: bytes, packets, errors, drops, link state',
  types: TYPES,
  host: 'agent',
  intervalMs: 1000,
  options: netdevOptions,
  explain: netdevExplain,
  load: async () => ({
    create: (options, context) => sampled(new NetdevSource(options as NetdevOptions, context), context),
  }),
}
