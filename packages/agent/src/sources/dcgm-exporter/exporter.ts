import { hostname } from 'node:os'
import { type Labels, type Slot, wallNs } from '@sonde/sdk'
import type { ExpositionParser, ScrapedSeries } from '@sonde/sdk/internal'
import type { Lack } from '../field-absences.ts'
import { nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../nvml/type.ts'
import { isRenamed, podLabelsOf } from '../pods/labels.ts'
import { podDeviceType, podInfoType } from '../pods/type.ts'
import { Row } from '../scraping/row.ts'
import type { TargetReader } from '../scraping/target.ts'
import type { SourceContext } from '../source.ts'
import type { DcgmExporterOptions } from './config.ts'
import { type DcgmTarget, dcgmField, whyUntold } from './fields.ts'
import { FrozenWatch } from './frozen-watch.ts'
import { boardTextsOf, gpuLabelsOf, instanceOf, sysfsAddress } from './labels.ts'
import { valueFor } from './value.ts'
import { XidCounts } from './xid-counts.ts'

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/
const VIA = 'scrape labels of dcgm-exporter'
const MEBIBYTE = 2 ** 20
/** Times before 2000 are none. Unit: milliseconds. */
const TIME_MIN_MS = Date.UTC(2000, 0, 1)

/** Where the samples of a series go; the rows that it means are there. */
interface Place {
  readonly rows: readonly Row[]
  readonly slot: Slot
  readonly factor: number
  readonly row: Row
  /** Whether the series was not copied for a pod. */
  readonly isOwn: boolean
}

/** Makes records of what one exporter answers. */
export class Exporter implements TargetReader {
  readonly #address: string
  readonly #context: SourceContext
  /** By type and labels. */
  readonly #rows = new Map<string, Row>()
  /** By the row of the GPU, and for as long as that is there. */
  readonly #xids = new WeakMap<Row, XidCounts>()
  /** By number of the series; undefined where it was not looked at, null where it says nothing of a GPU. */
  #places: (Place | null | undefined)[] = []
  #epoch = -1
  #isRenamed = false
  #scrape = 0
  readonly #host: string
  readonly #frozen: FrozenWatch

  constructor(address: string, options: DcgmExporterOptions, context: SourceContext) {
    const { hostname: name } = new URL(address)
    this.#address = address
    this.#context = context
    this.#host = LOOPBACK.test(name) ? hostname() : name
    this.#frozen = new FrozenWatch(options.collect_interval_ms, context.intervalMs)
  }

  refusal(parser: ExpositionParser): string {
    for (let i = 0; i < parser.count; i++) {
      const { name, labels } = parser.seriesAt(i)
      if (dcgmField(name) !== undefined && gpuLabelsOf(labels, this.#host) !== undefined) return ''
    }
    return 'answers without a series of a GPU; is it a dcgm-exporter?'
  }

  /** What is known of its GPUs is not known any more. */
  fail(reason: string): void {
    for (const row of this.#rows.values()) row.fail(reason)
  }

  /** The exporter is asked no more. */
  leave(reason: string): void {
    for (const row of this.#rows.values()) row.leave(reason)
    this.#rows.clear()
    this.#places = []
  }

  /** @throws SondeError `SRC_SCRAPE` where the values have stood still for too long. */
  report(parser: ExpositionParser): void {
    this.#frozen.look(this.#address, parser)
    this.#scrape++
    this.#follow(parser)
    let timeMs = Number.NaN
    for (let i = 0; i < parser.count; i++) {
      const number = parser.numbers[i] as number
      let place = this.#places[number]
      if (place === undefined) {
        place = this.#placeOf(parser.seriesAt(i))
        this.#places[number] = place
      }
      if (place === null) continue
      for (const row of place.rows) row.begin(this.#scrape)
      place.row.set(place.slot.name, valueIn(parser, place, i), place.isOwn)
      const ownMs = parser.timesMs[i] as number
      if (ownMs >= TIME_MIN_MS && !(timeMs > ownMs)) timeMs = ownMs
    }
    this.#addTotals()
    this.#addXids()
    const time = Number.isNaN(timeMs) ? wallNs() : BigInt(Math.round(timeMs * 1000)) * 1000n
    for (const [key, row] of this.#rows) {
      if (row.scrape === this.#scrape) row.report(time)
      else {
        row.leave('the exporter does not tell of it any more')
        this.#rows.delete(key)
        // Series that come back are looked at again, and find the row that is made then.
        this.#places = []
      }
    }
  }

  /** Numbers of series hold until the parser gives them anew; labels that a Prometheus renamed, for a body. */
  #follow(parser: ExpositionParser): void {
    let isRenamedNow = false
    for (let i = 0; i < parser.count && !isRenamedNow; i++) isRenamedNow = isRenamed(parser.seriesAt(i).labels)
    if (parser.epoch === this.#epoch && isRenamedNow === this.#isRenamed) return
    this.#epoch = parser.epoch
    this.#isRenamed = isRenamedNow
    this.#places = []
  }

  #placeOf({ name, labels }: ScrapedSeries): Place | null {
    const field = dcgmField(name)
    const gpu = gpuLabelsOf(labels, this.#host)
    if (field === undefined || gpu === undefined) return null
    const instance = instanceOf(labels)
    const pod = podLabelsOf(labels, this.#isRenamed)
    const info = this.#rowOf(nvmlGpuInfoType, gpu)
    info.setText('address', sysfsAddress(gpu.pci_bus_id))
    for (const [text, value] of Object.entries(boardTextsOf(labels))) info.setText(text, value)
    const rows = [info, this.#rowOf(nvmlGpuType, gpu), this.#rowOf(nvmlProfileType, gpu)]
    const instanceRow =
      instance === undefined
        ? undefined
        : this.#rowOf(nvmlMigType, { ...gpu, GPU_I_ID: instance.id, GPU_I_PROFILE: instance.profile })
    if (instanceRow !== undefined) rows.push(instanceRow)
    if (pod !== undefined) rows.push(...this.#podRows(pod, gpu, instance?.id))
    const target = (instance === undefined ? undefined : field.ofInstance) ?? field.target
    const row = target.type === nvmlMigType ? instanceRow : this.#rowOf(target.type, gpu)
    return { rows, slot: slotOf(target), factor: target.factor, row: row as Row, isOwn: pod === undefined }
  }

  #podRows(pod: NonNullable<ReturnType<typeof podLabelsOf>>, gpu: Labels, instance: number | undefined): Row[] {
    const { namespace, pod: name, container, app, service } = pod
    const { UUID = '', Hostname = '' } = gpu
    const GPU_I_ID = instance === undefined ? '' : String(instance)
    const device = this.#rowOf(podDeviceType, { namespace, pod: name, container, UUID, GPU_I_ID, Hostname })
    device.setText('via', VIA)
    const info = this.#rowOf(podInfoType, { namespace, pod: name })
    for (const [text, value] of Object.entries({ app, service, node_name: Hostname, via: VIA }))
      info.setText(text, value)
    return [device, info]
  }

  #rowOf(type: Row['type'], labels: Readonly<Record<string, string | number>>): Row {
    const key = `${type.name} ${JSON.stringify(Object.values(labels))}`
    let row = this.#rows.get(key)
    if (row === undefined) {
      row = new Row(this.#context, this.#address, type, labels, whyUntold)
      if (type === podDeviceType) row.setConstant('present', 1)
      this.#rows.set(key, row)
    }
    return row
  }

  /** Exporters do not tell how much memory there is; it is what is free, used and reserved. */
  #addTotals(): void {
    for (const row of this.#rows.values()) {
      if (row.scrape !== this.#scrape || (row.type !== nvmlGpuType && row.type !== nvmlMigType)) continue
      const parts = ['fb_free', 'fb_used', 'fb_reserved'].map((field) => row.numberOf(field))
      const total = parts.reduce((sum, part) => (sum === undefined || part === undefined ? undefined : sum + part))
      if (total !== undefined) row.set('fb_total', total, false)
      const whole = row.numberOf('fb_total')
      if (row.type !== nvmlGpuType || whole === undefined) continue
      const info = this.#rowOf(nvmlGpuInfoType, row.labels)
      info.set('memory_bytes', whole * MEBIBYTE, true)
    }
  }

  /** A row a number; numbers that were told stay for as long as their GPU does. */
  #addXids(): void {
    for (const row of this.#rows.values()) {
      if (row.scrape !== this.#scrape || row.type !== nvmlGpuType) continue
      const counts = this.#xids.get(row) ?? new XidCounts()
      this.#xids.set(row, counts)
      counts.take(row.numberOf('xid_errors'))
      for (const [xid, count] of counts) {
        const told = this.#rowOf(nvmlXidType, { ...row.labels, xid })
        told.begin(this.#scrape)
        told.setConstant('events_total', count)
      }
    }
  }
}

/** What a sample says for the field of its place. */
function valueIn(parser: ExpositionParser, { slot, factor }: Place, sample: number): number | bigint | Lack {
  return valueFor(slot, parser.values[sample] as number, factor, () => parser.integer(sample))
}

/** The slot of a target. That the type has none is a fault of the program. */
function slotOf({ type, field }: DcgmTarget): Slot {
  const slot = type.layout.slots.find(({ name }) => name === field)
  if (slot === undefined) throw new Error(`type ${type.name} has no field ${field}`)
  return slot
}
