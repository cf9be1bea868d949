import type { Labels, RecordOf } from '@sonde/sdk'
import { AttributeReader } from '../attribute-reader.ts'
import { emptyRecord } from '../empty-record.ts'
import { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'
import type { CounterReading } from '../wide-counter.ts'
import { CounterFile } from './counter-file.ts'
import { CounterFolder, type CounterPart, type Share } from './counter-folder.ts'
import { HW_COUNTERS, type HwField } from './names.ts'
import { parseLifespan } from './parse.ts'
import { rdmaDriverType, rdmaHwFirstType, rdmaHwType } from './type.ts'

/**
 * Counters outside of mlx5's names that one folder may add, each as a series. Further counters are counted as dropped.
 */
const DRIVER_COUNTER_LIMIT = 64
const MS_PER_SECOND = 1000
const TYPES = { frequent: rdmaHwFirstType, rest: rdmaHwType } as const
const SHARES: readonly Share[] = ['frequent', 'rest']

/** The folder `hw_counters` of one port, or of the whole device as port 0. */
export class HwCounters {
  readonly #device: string
  readonly #port: number
  readonly #context: SourceContext
  readonly #sysfs: KernelFiles
  readonly #path: readonly string[]
  readonly #parts: {
    readonly frequent: CounterPart<HwField> & { readonly record: RecordOf<typeof rdmaHwFirstType> }
    readonly rest: CounterPart<HwField> & { readonly record: RecordOf<typeof rdmaHwType> }
  }
  readonly #counters: CounterFolder<HwField>
  readonly #driver = new Map<string, CounterFile<'statistic'>>()
  readonly #lifespan: KernelFile
  #lifespanMs = 0
  #readMs = Number.NEGATIVE_INFINITY
  #due = true
  /** Number of the driver's counters beyond the limit. */
  #left = 0
  #reported = false

  constructor(device: string, port: number, path: readonly string[], sysfs: KernelFiles, context: SourceContext) {
    this.#device = device
    this.#port = port
    this.#context = context
    this.#sysfs = sysfs
    this.#path = path
    const attributesOf = (share: Share) =>
      new AttributeReader(context, new FieldAbsences(context.absences, TYPES[share], this.#labels))
    this.#parts = {
      frequent: {
        record: { ...emptyRecord(rdmaHwFirstType), rdma_device: device, port },
        attributes: attributesOf('frequent'),
      },
      rest: { record: { ...emptyRecord(rdmaHwType), rdma_device: device, port }, attributes: attributesOf('rest') },
    }
    this.#counters = new CounterFolder(path, HW_COUNTERS, sysfs, this.#parts)
    this.#lifespan = sysfs.file(...path, 'lifespan')
  }

  /** Whether the last scan found any counter. */
  get there(): boolean {
    return this.#counters.count('frequent') + this.#counters.count('rest') + this.#driver.size > 0
  }

  /** Lists the counters. A missing folder is not a failure: many drivers have none. */
  scan(): void {
    const scanned = this.#counters.scan()
    const names = scanned instanceof ReadFailure ? [] : scanned.filter((name) => name !== 'lifespan')
    const kept = new Set(names.slice(0, DRIVER_COUNTER_LIMIT))
    this.#left = names.length - kept.size
    for (const [name, file] of this.#driver) {
      if (kept.has(name)) continue
      file.close()
      this.#driver.delete(name)
      this.#context.absences.gone(rdmaDriverType, this.#driverLabels(name), 'the driver no longer has the counter')
    }
    for (const name of kept) if (!this.#driver.has(name)) this.#driver.set(name, this.#driverCounter(name))
    if (!this.there) this.forget('the driver no longer has hardware counters')
    this.#reportAbsences(scanned)
    if (this.there) this.#readLifespan()
  }

  /** Starts a sweep. Within the lifespan, the driver repeats its last values, so nothing is read or reported. */
  startSweep(nowMs: number): void {
    if (nowMs === this.#readMs) return
    this.#due = nowMs - this.#readMs >= this.#lifespanMs
    if (this.#due) this.#readMs = nowMs
  }

  /** Reads a share of the counters. Returns false if a listed file is missing. */
  read(share: Share, reading: CounterReading): boolean {
    if (!this.#due) return true
    let complete = this.#counters.read(share, reading)
    if (share === 'rest')
      for (const file of this.#driver.values()) if (file.read(reading) === 'missing') complete = false
    return complete
  }

  /** Reports the shares that were read since the last report; returns whether there were any. */
  report(): boolean {
    const [firstNs, restNs] = [this.#counters.takeReadNs('frequent'), this.#counters.takeReadNs('rest')]
    if (!this.there || (firstNs ?? restNs) === undefined) return false
    if (firstNs !== undefined) this.#reportShare('frequent', firstNs)
    if (restNs !== undefined) this.#reportRest(restNs)
    this.#reported = true
    return true
  }

  /** Reports all its series as gone. */
  forget(reason: string): void {
    this.close()
    if (!this.#reported) return
    this.#reported = false
    for (const share of SHARES) {
      this.#parts[share].attributes.absences.forget()
      this.#context.absences.gone(TYPES[share], this.#labels, reason)
    }
    for (const name of this.#driver.keys()) {
      this.#context.absences.gone(rdmaDriverType, this.#driverLabels(name), reason)
    }
  }

  /** Forgets all values, because another device has the name now. */
  clear(): void {
    this.close()
    this.#counters.clear()
    for (const name of this.#driver.keys())
      this.#context.absences.gone(rdmaDriverType, this.#driverLabels(name), 'another device took the name')
    this.#driver.clear()
    this.#readMs = Number.NEGATIVE_INFINITY
  }

  /** Closes the files of the counters that are read in turns. */
  closeRest(): void {
    this.#counters.closeRest()
    for (const file of this.#driver.values()) file.close()
  }

  close(): void {
    this.#counters.close()
    this.#lifespan.close()
    for (const file of this.#driver.values()) file.close()
  }

  get #labels(): Labels {
    return { rdma_device: this.#device, port: String(this.#port) }
  }

  #driverLabels(counter: string): Labels {
    return { ...this.#labels, counter }
  }

  #driverCounter(name: string): CounterFile<'statistic'> {
    const absences = new FieldAbsences(this.#context.absences, rdmaDriverType, this.#driverLabels(name))
    const file = this.#sysfs.file(...this.#path, name)
    return new CounterFile(name, { field: 'statistic' }, file, new AttributeReader(this.#context, absences), '')
  }

  #reportShare(share: Share, time: bigint): void {
    if (this.#counters.count(share) === 0) return
    const { record } = this.#parts[share]
    record.time = time
    this.#context.source.report(TYPES[share], record)
  }

  #reportRest(time: bigint): void {
    this.#reportShare('rest', time)
    for (const [counter, { value }] of this.#driver) {
      if (value === undefined) continue
      const record = { time, rdma_device: this.#device, port: this.#port, counter, statistic: value }
      this.#context.source.report(rdmaDriverType, record)
    }
    if (this.#left > 0) this.#context.dropped('driver_counter_limit', this.#left)
  }

  /**
   * A port without known counters reports one absence for all of them. A device without counters of the whole device
   * reports none, because most devices have none.
   */
  #reportAbsences(scanned: string[] | ReadFailure): void {
    if (this.#port === 0 && scanned instanceof ReadFailure && scanned.kind === 'missing') return
    if (scanned instanceof ReadFailure && scanned.kind === 'failed')
      this.#context.failed(this.#path.join('/'), scanned.error)
    for (const share of SHARES) {
      const { absences } = this.#parts[share].attributes
      if (this.#counters.count(share) > 0) {
        absences.present('')
        this.#counters.reportAbsent(share, scanned)
      } else if (scanned instanceof ReadFailure) absences.absent('', scanned.code, scanned.words)
      else absences.absent('', 'unsupported', 'the driver has other hardware counters than those of mlx5')
    }
  }

  #readLifespan(): void {
    const { record, attributes } = this.#parts.rest
    const lifespanMs = attributes.read('lifespan_seconds', this.#lifespan, parseLifespan)
    this.#lifespanMs = lifespanMs ?? 0
    record.lifespan_seconds = lifespanMs === undefined ? undefined : lifespanMs / MS_PER_SECOND
  }
}
