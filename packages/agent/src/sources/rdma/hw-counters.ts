import type { Labels, RecordOf } from '@sonde/sdk'
import { AttributeReader } from '../attribute-reader.ts'
import { emptyRecord } from '../empty-record.ts'
import { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'
import type { Reading } from '../wide-counter.ts'
import { CounterFile } from './counter-file.ts'
import { CounterFolder, type CounterPart, type Share } from './counter-folder.ts'
import { HW_COUNTERS, type HwField } from './names.ts'
import { parseLifespan } from './parse.ts'
import { rdmaDriverType, rdmaHwFirstType, rdmaHwType } from './type.ts'

/** Counters of a driver's own names that one folder may add, each a series; further ones are counted as dropped. */
const DRIVER_COUNTER_LIMIT = 64
const MS_PER_SECOND = 1000
const TYPES = { telling: rdmaHwFirstType, rest: rdmaHwType } as const
const SHARES: readonly Share[] = ['telling', 'rest']

/** The folder `hw_counters` of one port, or of a device as a whole as port 0. */
export class HwCounters {
  readonly #device: string
  readonly #port: number
  readonly #context: SourceContext
  readonly #sysfs: KernelFiles
  readonly #path: readonly string[]
  readonly #parts: {
    readonly telling: CounterPart<HwField> & { readonly record: RecordOf<typeof rdmaHwFirstType> }
    readonly rest: CounterPart<HwField> & { readonly record: RecordOf<typeof rdmaHwType> }
  }
  readonly #counters: CounterFolder<HwField>
  readonly #driver = new Map<string, CounterFile<'statistic'>>()
  readonly #lifespan: KernelFile
  #lifespanMs = 0
  #readMs = Number.NEGATIVE_INFINITY
  #due = true
  /** Counters of the driver beyond the limit. */
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
      telling: { record: { ...emptyRecord(rdmaHwFirstType), device, port }, attributes: attributesOf('telling') },
      rest: { record: { ...emptyRecord(rdmaHwType), device, port }, attributes: attributesOf('rest') },
    }
    this.#counters = new CounterFolder(path, HW_COUNTERS, sysfs, this.#parts)
    this.#lifespan = sysfs.file(...path, 'lifespan')
  }

  /** Whether the folder held anything at the last look. */
  get there(): boolean {
    return this.#counters.count('telling') + this.#counters.count('rest') + this.#driver.size > 0
  }

  /** Looks which counters there are. A folder that is not there is no failure: many drivers have none. */
  scan(): void {
    const looked = this.#counters.scan()
    const names = looked instanceof ReadFailure ? [] : looked.filter((name) => name !== 'lifespan')
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
    this.#tell(looked)
    if (this.there) this.#readLifespan()
  }

  /**
   * Begins a sweep. Within its lifespan a value is the driver's copy of the last one: nothing is read and reported
   * again.
   */
  startSweep(nowMs: number): void {
    if (nowMs === this.#readMs) return
    this.#due = nowMs - this.#readMs >= this.#lifespanMs
    if (this.#due) this.#readMs = nowMs
  }

  /** Reads a share of the counters. Whether all that are listed are still there. */
  read(share: Share, reading: Reading): boolean {
    if (!this.#due) return true
    let complete = this.#counters.read(share, reading)
    if (share === 'rest')
      for (const file of this.#driver.values()) if (file.read(reading) === 'missing') complete = false
    return complete
  }

  /** Reports what was read since the last report; whether anything was. */
  report(): boolean {
    const [firstNs, restNs] = [this.#counters.takeReadNs('telling'), this.#counters.takeReadNs('rest')]
    if (!this.there || (firstNs ?? restNs) === undefined) return false
    if (firstNs !== undefined) this.#reportShare('telling', firstNs)
    if (restNs !== undefined) this.#reportRest(restNs)
    this.#reported = true
    return true
  }

  /** Says that all of its series are gone. */
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

  /** Forgets what was read: it is another device's. */
  clear(): void {
    this.close()
    this.#counters.clear()
    for (const name of this.#driver.keys())
      this.#context.absences.gone(rdmaDriverType, this.#driverLabels(name), 'another device took the name')
    this.#driver.clear()
    this.#readMs = Number.NEGATIVE_INFINITY
  }

  /** Closes the files that have turns. */
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
    return { device: this.#device, port: String(this.#port) }
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
      const record = { time, device: this.#device, port: this.#port, counter, statistic: value }
      this.#context.source.report(rdmaDriverType, record)
    }
    if (this.#left > 0) this.#context.dropped('driver_counter_limit', this.#left)
  }

  /** Of a port without a counter that we know one absence says all. That a device has none as a whole is the rule. */
  #tell(looked: string[] | ReadFailure): void {
    if (this.#port === 0 && looked instanceof ReadFailure && looked.kind === 'missing') return
    if (looked instanceof ReadFailure && looked.kind === 'failed')
      this.#context.failed(this.#path.join('/'), looked.error)
    for (const share of SHARES) {
      const { absences } = this.#parts[share].attributes
      if (this.#counters.count(share) > 0) {
        absences.present('')
        this.#counters.tellLacks(share, looked)
      } else if (looked instanceof ReadFailure) absences.absent('', looked.code, looked.words)
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
