import { hostname } from 'node:os'
import { type Labels, type Slot, wallNs } from '@sonde/sdk'
import type { ExpositionParser, ScrapedSeries } from '@sonde/sdk/internal'
import type { Lack } from '../field-absences.ts'
import { nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../nvml/type.ts'
import { sysfsAddress } from '../pci-address.ts'
import { isRenamed, podLabelsOf } from '../pods/labels.ts'
import { podDeviceType, podInfoType, podShareType } from '../pods/type.ts'
import type { Claims } from '../scraping/claims.ts'
import type { Row } from '../scraping/row.ts'
import { Rows } from '../scraping/rows.ts'
import type { TargetReader } from '../scraping/target.ts'
import type { SourceContext } from '../source.ts'
import type { DcgmExporterOptions } from './config.ts'
import { type DcgmTarget, dcgmField, whyUntold } from './fields.ts'
import { FrozenWatch } from './frozen-watch.ts'
import { boardTextsOf, type GpuLabels, gpuLabelsOf, instanceOf } from './labels.ts'
import { valueFor } from './value.ts'
import { XidCounts } from './xid-counts.ts'

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/
const VIA = 'scrape labels of dcgm-exporter'
const MEBIBYTE = 2 ** 20
/** Times before 2000, and those that a record does not hold, are none. Unit: milliseconds. */
const TIME_MIN_MS = Date.UTC(2000, 0, 1)
const TIME_MAX_MS = Date.UTC(2500, 0, 1)

/** Where the samples of a series go; the rows that it means are there. */
interface Place {
  readonly rows: readonly Row[]
  readonly slot: Slot
  readonly factor: number
  readonly row: Row
  /** Whether the series was not copied for a pod. */
  readonly isOwn: boolean
  /** Labels of the pod and device, where the series may be about the processes of a pod. */
  readonly share: Readonly<Record<string, string>> | undefined
}

/** Fields that exporters tell of the processes of each pod too, beside what they tell of the device. */
const SHARED_FIELDS: ReadonlyMap<string, { readonly field: string; readonly factor: number }> = new Map([
  ['gpu_util', { field: 'util_percent', factor: 1 }],
  ['fb_used', { field: 'memory_used_bytes', factor: MEBIBYTE }],
])

/** Makes records of what one exporter answers. */
export class Exporter implements TargetReader {
  readonly #address: string
  readonly #rows: Rows
  /** By the row of the GPU, and for as long as that is there. */
  readonly #xids = new WeakMap<Row, XidCounts>()
  /** By number of the series; undefined where it was not looked at, null where it says nothing of a GPU. */
  #places: (Place | null | undefined)[] = []
  #epoch = -1
  #isRenamed = false
  #scrape = 0
  readonly #host: string
  readonly #frozen: FrozenWatch

  constructor(address: string, options: DcgmExporterOptions, context: SourceContext, claims: Claims) {
    const { hostname: name } = new URL(address)
    this.#address = address
    this.#rows = new Rows(address, context, claims, { whyUntold, seriesCountMax: options.max_series })
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
    this.#rows.fail(reason)
    // Another may tell of them when it answers again.
    this.#places = []
  }

  /** The exporter is asked no more. */
  leave(reason: string): void {
    this.#rows.leave(reason)
    this.#places = []
  }

  /** @throws SondeError `SRC_SCRAPE` where the values have stood still for too long. */
  report(parser: ExpositionParser): void {
    this.#frozen.look(this.#address, parser)
    this.#scrape++
    this.#follow(parser)
    let timeMs = Number.NaN
    const shares: (readonly [Place, number | bigint | Lack])[] = []
    for (let i = 0; i < parser.count; i++) {
      const number = parser.numbers[i] as number
      let place = this.#places[number]
      if (place === undefined) {
        place = this.#placeOf(parser.seriesAt(i))
        this.#places[number] = place
      }
      if (place === null) continue
      for (const row of place.rows) row.begin(this.#scrape)
      const value = valueIn(parser, place, i)
      place.row.set(place.slot.name, value, place.isOwn)
      if (place.share !== undefined) shares.push([place, value])
      const ownMs = parser.timesMs[i] as number
      if (ownMs >= TIME_MIN_MS && ownMs <= TIME_MAX_MS && !(timeMs > ownMs)) timeMs = ownMs
    }
    this.#addShares(shares)
    this.#addTotals()
    this.#addXids()
    const time = Number.isNaN(timeMs) ? wallNs() : BigInt(Math.round(timeMs * 1000)) * 1000n
    // Series that come back are looked at again, and find the row that is made then.
    if (this.#rows.finish(this.#scrape, time, 'the exporter does not tell of it any more')) this.#places = []
  }

  /** Numbers of series hold until the parser gives them anew; labels that a Prometheus renamed, for a body. */
  #follow(parser: ExpositionParser): void {
    let isRenamedNow = false
    for (let i = 0; i < parser.count && !isRenamedNow; i++) isRenamedNow = isRenamed(parser.seriesAt(i).labels)
    const isSame = parser.epoch === this.#epoch && isRenamedNow === this.#isRenamed
    if (isSame && this.#places.length > 0 && !this.#rows.mayTakeMore) return
    this.#epoch = parser.epoch
    this.#isRenamed = isRenamedNow
    this.#places = []
    this.#rows.look()
  }

  #placeOf({ name, labels }: ScrapedSeries): Place | null {
    const field = dcgmField(name)
    const gpu = gpuLabelsOf(labels, this.#host)
    if (field === undefined || gpu === undefined) return null
    const instance = instanceOf(labels)
    const pod = podLabelsOf(labels, this.#isRenamed)
    const rowOf = (type: Row['type'], more = {}) => this.#rows.of(subjectOf(gpu), type, { ...gpu, ...more })
    const info = rowOf(nvmlGpuInfoType)
    const gpuRow = info && rowOf(nvmlGpuType)
    const profile = gpuRow && rowOf(nvmlProfileType)
    if (info === undefined || gpuRow === undefined || profile === undefined) return null
    info.setText('address', sysfsAddress(gpu.pci_bus_id))
    for (const [text, value] of Object.entries(boardTextsOf(labels))) info.setText(text, value)
    const rows = [info, gpuRow, profile]
    if (instance !== undefined) {
      const ofInstance = rowOf(nvmlMigType, { GPU_I_ID: instance.id, GPU_I_PROFILE: instance.profile })
      if (ofInstance === undefined) return null
      rows.push(ofInstance)
    }
    if (pod !== undefined) rows.push(...this.#podRows(pod, gpu, instance?.id))
    const target = (instance === undefined ? undefined : field.ofInstance) ?? field.target
    const row = rows.find(({ type }) => type === target.type)
    if (row === undefined) throw new Error(`type ${target.type.name} is none of a GPU`)
    const share = pod && SHARED_FIELDS.has(target.field) ? shareLabels(pod, gpu, instance?.id) : undefined
    return { rows, slot: slotOf(target), factor: target.factor, row, isOwn: pod === undefined, share }
  }

  #podRows(pod: NonNullable<ReturnType<typeof podLabelsOf>>, gpu: Labels, instance: number | undefined): Row[] {
    const { namespace, pod: name, app, service } = pod
    const rowOf = (type: Row['type'], of: Readonly<Record<string, string>>) =>
      this.#rows.of(`pod ${namespace}/${name}`, type, of)
    const device = rowOf(podDeviceType, shareLabels(pod, gpu, instance))
    const info = rowOf(podInfoType, { namespace, pod: name })
    if (device === undefined || info === undefined) return []
    device.setConstant('present', 1)
    device.setText('via', VIA)
    for (const [text, value] of Object.entries({ app, service, node_name: gpu.Hostname ?? '', via: VIA }))
      info.setText(text, value)
    return [device, info]
  }

  /**
   * What the processes of pods use. A series with a pod is about them only where the device has a series of its own:
   * else it is that of the device, copied for each pod.
   */
  #addShares(shares: readonly (readonly [Place, number | bigint | Lack])[]): void {
    for (const [{ row, slot, share }, value] of shares) {
      const place = SHARED_FIELDS.get(slot.name)
      if (share === undefined || place === undefined || !row.isOwn(slot.name)) continue
      const told = this.#rows.of(`pod ${share.namespace}/${share.pod}`, podShareType, share)
      told?.begin(this.#scrape)
      told?.set(place.field, typeof value === 'number' ? value * place.factor : value, true)
    }
  }

  /** Exporters do not tell how much memory there is; it is what is free, used and reserved. */
  #addTotals(): void {
    for (const [subject, row] of this.#rows.inScrape(this.#scrape)) {
      if (row.type !== nvmlGpuType && row.type !== nvmlMigType) continue
      const parts = ['fb_free', 'fb_used', 'fb_reserved'].map((field) => row.numberOf(field))
      const total = parts.reduce((sum, part) => (sum === undefined || part === undefined ? undefined : sum + part))
      if (total !== undefined) row.set('fb_total', total, false)
      const whole = row.numberOf('fb_total')
      if (row.type !== nvmlGpuType || whole === undefined) continue
      this.#rows.of(subject, nvmlGpuInfoType, row.labels)?.set('memory_bytes', whole * MEBIBYTE, true)
    }
  }

  /** A row a number; numbers that were told stay for as long as their GPU does. */
  #addXids(): void {
    for (const [subject, row] of this.#rows.inScrape(this.#scrape)) {
      if (row.type !== nvmlGpuType) continue
      const counts = this.#xids.get(row) ?? new XidCounts()
      this.#xids.set(row, counts)
      counts.take(row.numberOf('xid_errors'))
      for (const [xid, count] of counts) {
        const told = this.#rows.of(subject, nvmlXidType, { ...row.labels, xid })
        told?.begin(this.#scrape)
        told?.setConstant('events_total', count)
      }
    }
  }
}

/** Labels of what a container holds. */
function shareLabels(
  { namespace, pod, container }: NonNullable<ReturnType<typeof podLabelsOf>>,
  { UUID = '', Hostname = '' }: Labels,
  instance: number | undefined,
): Record<'namespace' | 'pod' | 'container' | 'UUID' | 'GPU_I_ID' | 'Hostname', string> {
  return { namespace, pod, container, UUID, GPU_I_ID: instance === undefined ? '' : String(instance), Hostname }
}

/** What a GPU is known by, whatever else its labels say. */
function subjectOf({ UUID, Hostname }: GpuLabels): string {
  return `GPU ${UUID} of ${Hostname}`
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
