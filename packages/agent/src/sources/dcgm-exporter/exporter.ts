import { hostname } from 'node:os'
import { type Labels, wallNs } from '@sonde/sdk'
import type { ExpositionParser, ScrapedSeries, Slot } from '@sonde/sdk/internal'
import { Missing } from '../field-absences.ts'
import { doubtsOf } from '../nvml/doubts.ts'
import { ownGpuLabels } from '../nvml/labels.ts'
import { nvmlDoubtType, nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../nvml/type.ts'
import { OF_EXPORTER, OF_JOB_LABEL } from '../pods/evidence.ts'
import { isRenamed, podLabelsOf } from '../pods/labels.ts'
import { podDeviceType, podInfoType, podShareType } from '../pods/type.ts'
import { beyondLink } from '../ranges/pcie-throughput.ts'
import type { Claims } from '../scraping/claims.ts'
import type { Dispute } from '../scraping/disputes.ts'
import { SAMPLES_A_STEP } from '../scraping/in-turns.ts'
import type { ScrapedRow } from '../scraping/scraped-row.ts'
import { LEFT_OUT, ScrapedRows } from '../scraping/scraped-rows.ts'
import { gpuSubject, podSubject } from '../scraping/subjects.ts'
import type { TargetReader } from '../scraping/target.ts'
import type { SourceContext } from '../source.ts'
import type { DcgmExporterOptions } from './config.ts'
import { type ExportedLabels, ExportedSeries, exportedLabels } from './exported-series.ts'
import { type DcgmTarget, dcgmField, whyUntold } from './fields.ts'
import { FrozenWatch } from './frozen-watch.ts'
import { boardTextsOf, gpuLabelsOf, instanceOf } from './labels.ts'
import { exportedField } from './series-type.ts'
import { valueFor } from './value.ts'
import { XidCounts } from './xid-counts.ts'

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/
const MEBIBYTE = 2 ** 20
const bytesOfMebibytes = (value: number) => value * MEBIBYTE
const ratioOfPercent = (value: number) => value / 100
/** Earlier timestamps (before 2000) are ignored; they are not real times. Unit: milliseconds. */
const TIME_MIN_MS = Date.UTC(2000, 0, 1)
const TIME_MAX_MS = Date.UTC(2500, 0, 1)

/** Reason for a refused series. */
type Refusal = Dispute | typeof LEFT_OUT

/** Destination of the samples of a series, as long as its rows exist. */
interface SeriesTarget {
  /** Why the pod is refused; undefined if it is accepted or there is no pod. */
  readonly refusal: Refusal | undefined
  readonly rows: readonly ScrapedRow[]
  readonly slot: Slot
  readonly factor: number
  readonly row: ScrapedRow
  /** Whether the value belongs to the device and was not copied for a pod. */
  readonly isOwn: boolean
  /** Labels of the pod and device if the series may describe the processes of a pod. */
  readonly share: Readonly<Record<string, string>> | undefined
  /** Labels and field of the exported series; undefined if it is not exported. */
  readonly exported: { readonly to: ExportedLabels; readonly field: string } | undefined
}

/** Result of inspecting a series: its destination, or why it is refused; null if it does not describe a GPU. */
type Fate = SeriesTarget | { readonly refusal: Refusal; readonly row?: undefined } | null

/** Fields that exporters report for the whole device and for the processes of each pod. */
const SHARED_FIELDS: ReadonlyMap<string, { readonly field: string; readonly convert: (value: number) => number }> =
  new Map([
    ['gpu_util', { field: 'util_ratio', convert: ratioOfPercent }],
    ['fb_used', { field: 'memory_used_bytes', convert: bytesOfMebibytes }],
  ])

/** Turns the answers of one exporter into records. */
export class Exporter implements TargetReader {
  readonly rows: ScrapedRows
  readonly #address: string
  /** Kept per row of a GPU, until the row leaves. */
  readonly #xids = new WeakMap<ScrapedRow, XidCounts>()
  /** Indexed by the parser's number of the series; undefined if the series was not inspected yet. */
  #places: (Fate | undefined)[] = []
  #parser: ExpositionParser | undefined
  #epoch = -1
  #isRenamed = false
  #scrape = 0
  readonly #host: string
  readonly #frozen: FrozenWatch
  readonly #exported: ExportedSeries | undefined

  constructor(address: string, options: DcgmExporterOptions, context: SourceContext, claims: Claims) {
    const { hostname: name } = new URL(address)
    this.#address = address
    this.rows = new ScrapedRows(address, context, claims, { whyUntold, seriesCountMax: options.max_series })
    this.#host = LOOPBACK.test(name) ? hostname() : name
    this.#frozen = new FrozenWatch(options.collect_interval_ms, context.intervalMs)
    this.#exported = options.export ? new ExportedSeries(address, context) : undefined
  }

  *refusal(parser: ExpositionParser): Generator<undefined, string> {
    for (let i = 0; i < parser.count; i++) {
      const { name, labels } = parser.seriesAt(i)
      if (dcgmField(name) !== undefined && gpuLabelsOf(labels, this.#host) !== undefined) return ''
      if (i % SAMPLES_A_STEP === 0) yield
    }
    return 'answers without a series of a GPU; is it a dcgm-exporter?'
  }

  /** Marks all values of its GPUs as absent. */
  fail(reason: string): void {
    this.rows.fail(reason)
    this.#exported?.leave(reason)
    // After the next answer, another exporter may hold the GPUs.
    this.#places = []
  }

  /** The exporter is no longer scraped. */
  leave(reason: string): void {
    this.rows.leave(reason)
    this.#exported?.leave(reason)
    this.#places = []
  }

  /** @throws ScrapeRefusal if the values have not changed for too long. */
  *report(parser: ExpositionParser): Generator<undefined, void> {
    yield* this.#frozen.look(this.#address, parser)
    this.#scrape++
    yield* this.#follow(parser)
    let timeMs = Number.NaN
    const shares: (readonly [SeriesTarget, number | bigint | Missing])[] = []
    const exported: (readonly [place: SeriesTarget, sample: number])[] = []
    for (let i = 0; i < parser.count; i++) {
      const number = parser.numbers[i] as number
      let place = this.#places[number]
      if (place === undefined) {
        place = this.#placeOf(parser.seriesAt(i))
        this.#places[number] = place
      }
      if (i % SAMPLES_A_STEP === 0) yield
      if (place === null) continue
      if (place.refusal !== undefined) this.rows.refuse(place.refusal, this.#scrape)
      if (place.row === undefined) continue
      for (const row of place.rows) row.begin(this.#scrape)
      const value = valueIn(parser, place, i)
      place.row.set(place.slot.name, value, place.isOwn)
      if (place.share !== undefined) shares.push([place, value])
      if (place.exported !== undefined) exported.push([place, i])
      const ownMs = parser.timesMs[i] as number
      if (ownMs >= TIME_MIN_MS && ownMs <= TIME_MAX_MS && !(timeMs > ownMs)) timeMs = ownMs
    }
    yield* this.#addShares(shares)
    yield* this.#addTotals()
    yield* this.#addXids()
    yield* this.#checkLinks()
    yield* this.#doubt()
    const time = Number.isNaN(timeMs) ? wallNs() : BigInt(Math.round(timeMs * 1000)) * 1000n
    const left = 'the exporter does not tell of it any more'
    yield* this.#export(parser, exported)
    yield* this.#exported?.finish(time, left) ?? []
    const hasLeft = yield* this.rows.finish(this.#scrape, time, left)
    // Removed series are inspected again when they return, and then get a new row.
    if (hasLeft) this.#places = []
  }

  /**
   * Updates the destinations when the parser changes its numbers, or when a Prometheus starts or stops renaming labels.
   */
  *#follow(parser: ExpositionParser): Generator<undefined, void> {
    let isRenamedNow = false
    for (let i = 0; i < parser.count && !isRenamedNow; i++) {
      isRenamedNow = isRenamed(parser.seriesAt(i).labels)
      if (i % SAMPLES_A_STEP === 0) yield
    }
    const isSame = parser === this.#parser && parser.epoch === this.#epoch && isRenamedNow === this.#isRenamed
    if (isSame && this.#places.length > 0 && !this.rows.mayTakeMore) return
    this.#parser = parser
    this.#epoch = parser.epoch
    this.#isRenamed = isRenamedNow
    this.#places = []
    this.rows.look()
  }

  #placeOf({ name, labels }: ScrapedSeries): Fate {
    const field = dcgmField(name)
    const gpu = gpuLabelsOf(labels, this.#host)
    if (field === undefined || gpu === undefined) return null
    const subject = gpuSubject(gpu)
    const dispute = this.rows.claim(subject)
    if (dispute !== undefined) return { refusal: dispute }
    const instance = instanceOf(labels)
    const pod = podLabelsOf(labels, this.#isRenamed)
    const rowOf = (type: ScrapedRow['type'], more = {}) => this.rows.of(subject, type, { ...gpu, ...more })
    const info = this.rows.of(subject, nvmlGpuInfoType, ownGpuLabels(gpu))
    const gpuRow = info && rowOf(nvmlGpuType)
    const profile = gpuRow && rowOf(nvmlProfileType)
    if (info === undefined || gpuRow === undefined || profile === undefined) return { refusal: LEFT_OUT }
    for (const [text, value] of Object.entries(boardTextsOf(labels))) info.setText(text, value)
    const rows = [info, gpuRow, profile]
    if (instance !== undefined) {
      const ofInstance = rowOf(nvmlMigType, { GPU_I_ID: instance.id, GPU_I_PROFILE: instance.profile })
      if (ofInstance === undefined) return { refusal: LEFT_OUT }
      rows.push(ofInstance)
    }
    const ofPod = pod === undefined ? [] : this.#podRows(pod, gpu, instance?.id)
    // The GPU may be held even if its pod is disputed.
    const refusal = Array.isArray(ofPod) ? undefined : ofPod
    if (Array.isArray(ofPod)) rows.push(...ofPod)
    const target = (instance === undefined ? undefined : field.ofInstance) ?? field.target
    const row = rows.find(({ type }) => type === target.type)
    if (row === undefined) throw new Error(`type ${target.type.name} is none of a GPU`)
    // Copies for jobs are those of the device.
    const share = pod && !pod.isJob && SHARED_FIELDS.has(target.field) ? shareLabels(pod, gpu, instance?.id) : undefined
    const exported =
      this.#exported === undefined || refusal !== undefined
        ? undefined
        : { to: exportedLabels(labels, gpu, pod?.isJob ? undefined : pod), field: exportedField(field) }
    return {
      refusal,
      rows,
      slot: slotOf(target),
      factor: target.factor,
      row,
      isOwn: pod === undefined,
      share,
      exported,
    }
  }

  #podRows(
    pod: NonNullable<ReturnType<typeof podLabelsOf>>,
    gpu: Labels,
    instance: number | undefined,
  ): ScrapedRow[] | Refusal {
    const { namespace, pod: name, app, service, appLabel, serviceLabel } = pod
    const subject = podSubject(namespace, name)
    const dispute = this.rows.claim(subject)
    if (dispute !== undefined) return dispute
    const device = this.rows.of(subject, podDeviceType, shareLabels(pod, gpu, instance))
    const info = this.rows.of(subject, podInfoType, { namespace, pod: name })
    if (device === undefined || info === undefined) return LEFT_OUT
    device.setConstant('present', 1)
    const { via } = pod.isJob ? OF_JOB_LABEL : OF_EXPORTER
    for (const [text, value] of Object.entries({ via, resource: '', device_id: '', doubt: '' }))
      device.setText(text, value)
    const decided = { app, service, app_label: appLabel, service_label: serviceLabel }
    const unknown = { phase: '', waiting: '', labels: '', uid: '' }
    for (const [text, value] of Object.entries({ ...decided, ...unknown, node_name: gpu.Hostname ?? '', via }))
      info.setText(text, value)
    return [device, info]
  }

  /**
   * Adds the resource use of pods. A series with a pod describes the processes of the pod only if the device has its
   * own series. Otherwise it is the value of the device, copied for each pod.
   */
  *#addShares(shares: readonly (readonly [SeriesTarget, number | bigint | Missing])[]): Generator<undefined, void> {
    for (const [{ row, slot, share }, value] of shares) {
      yield
      const place = SHARED_FIELDS.get(slot.name)
      if (share === undefined || place === undefined || !row.isOwn(slot.name)) continue
      const told = this.rows.of(podSubject(share.namespace ?? '', share.pod ?? ''), podShareType, share)
      told?.begin(this.#scrape)
      told?.set(place.field, typeof value === 'number' ? place.convert(value) : value, true)
    }
  }

  /** Exports samples unchanged, except values that are impossible or that other values contradict. */
  *#export(
    parser: ExpositionParser,
    samples: readonly (readonly [place: SeriesTarget, sample: number])[],
  ): Generator<undefined, void> {
    for (const [place, sample] of samples) {
      yield
      const { exported, row, slot, factor } = place
      const value = row.checked(slot.name, valueIn(parser, place, sample))
      if (exported === undefined || value instanceof Missing || row.isRefused(slot.name)) continue
      this.#exported?.set(exported.to, exported.field, factor === 1 ? value : (parser.values[sample] as number))
    }
  }

  /** Exporters do not report the total memory; it is the sum of free, used and reserved memory. */
  *#addTotals(): Generator<undefined, void> {
    for (const [subject, row] of this.rows.inScrape(this.#scrape)) {
      yield
      if (row.type !== nvmlGpuType && row.type !== nvmlMigType) continue
      const parts = ['fb_free', 'fb_used', 'fb_reserved'].map((field) => row.numberOf(field))
      const total = parts.reduce((sum, part) => (sum === undefined || part === undefined ? undefined : sum + part))
      if (total !== undefined) row.set('fb_total', total, false)
      const whole = row.numberOf('fb_total')
      if (row.type !== nvmlGpuType || whole === undefined) continue
      this.rows.of(subject, nvmlGpuInfoType, ownGpuLabels(row.labels))?.set('memory_bytes', whole * MEBIBYTE, true)
    }
  }

  /** Drops a PCIe throughput that exceeds the capacity of the link. */
  *#checkLinks(): Generator<undefined, void> {
    for (const [subject, row] of this.rows.inScrape(this.#scrape)) {
      yield
      if (row.type !== nvmlProfileType) continue
      const info = this.rows.of(subject, nvmlGpuInfoType, ownGpuLabels(row.labels))
      if (info === undefined) continue
      for (const field of ['pcie_tx_bytes', 'pcie_rx_bytes']) {
        const [generation, lanes] = [info.numberOf('pcie_generation_max'), info.numberOf('pcie_width_max_lanes')]
        const lack = beyondLink(row.numberOf(field) ?? 0, generation, lanes)
        if (lack !== undefined) row.refuse(field, lack)
      }
    }
  }

  /** One row for each XID number. A reported number stays as long as its GPU. */
  *#addXids(): Generator<undefined, void> {
    for (const [subject, row] of this.rows.inScrape(this.#scrape)) {
      yield
      if (row.type !== nvmlGpuType) continue
      const counts = this.#xids.get(row) ?? new XidCounts()
      this.#xids.set(row, counts)
      counts.take(row.numberOf('xid_errors'))
      for (const [xid, count] of counts) {
        const told = this.rows.of(subject, nvmlXidType, { ...ownGpuLabels(row.labels), xid })
        told?.begin(this.#scrape)
        told?.setConstant('events_total', count)
      }
    }
  }

  /** Drops values that contradict other values of the same scrape, with the reason, and counts them. */
  *#doubt(): Generator<undefined, void> {
    for (const [subject, gpu] of this.rows.inScrape(this.#scrape)) {
      yield
      if (gpu.type !== nvmlGpuType) continue
      const profile = this.rows.of(subject, nvmlProfileType, gpu.labels)
      if (profile === undefined) continue
      const rows = { gpu, profile }
      for (const { kind, of, fields, reason } of doubtsOf(readerOf(gpu), readerOf(profile))) {
        for (const field of fields) rows[of].refuse(field, new Missing('failed', reason))
        const told = this.rows.of(subject, nvmlDoubtType, { ...ownGpuLabels(gpu.labels), doubt: kind })
        told?.begin(this.#scrape)
        told?.setConstant('readings', fields.length)
      }
    }
  }
}

function readerOf(row: ScrapedRow): (field: string) => number | undefined {
  return (field) => row.numberOf(field)
}

/** Labels of a container's device. */
function shareLabels(
  { namespace, pod, container }: NonNullable<ReturnType<typeof podLabelsOf>>,
  { UUID = '', Hostname = '' }: Labels,
  instance: number | undefined,
): Record<'namespace' | 'pod' | 'container' | 'UUID' | 'GPU_I_ID' | 'Hostname', string> {
  return { namespace, pod, container, UUID, GPU_I_ID: instance === undefined ? '' : String(instance), Hostname }
}

/** The value of a sample, converted for its destination field. */
function valueIn(parser: ExpositionParser, { slot, factor }: SeriesTarget, sample: number): number | bigint | Missing {
  return valueFor(slot, parser.values[sample] as number, factor, () => parser.integer(sample))
}

/** The slot of a target. A target without a slot is a programming error. */
function slotOf({ type, field }: DcgmTarget): Slot {
  const slot = type.layout.slots.find(({ name }) => name === field)
  if (slot === undefined) throw new Error(`type ${type.name} has no field ${field}`)
  return slot
}
