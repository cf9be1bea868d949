import { wallNs } from '@sonde/sdk'
import type { ExpositionParser } from '@sonde/sdk/internal'
import { Missing } from '../field-absences.ts'
import { isRenamed } from '../pods/labels.ts'
import { podInfoType } from '../pods/type.ts'
import type { Claims } from '../scraping/claims.ts'
import { SAMPLES_A_STEP } from '../scraping/in-turns.ts'
import type { ScrapingOptions } from '../scraping/options.ts'
import type { WhyUntold } from '../scraping/scraped-row.ts'
import { LEFT_OUT, ScrapedRows } from '../scraping/scraped-rows.ts'
import { podSubject } from '../scraping/subjects.ts'
import type { TargetReader } from '../scraping/target.ts'
import type { SourceContext } from '../source.ts'
import { isOfPods, type PodSeries, podSeriesOf } from './series.ts'

const VIA = 'kube-state-metrics'
const UNTOLD: Readonly<Record<string, string>> = {
  start_time_seconds:
    'kube-state-metrics has no kube_pod_start_time of it: it has not started, or the metric is left out',
}

/** A pod that requests GPUs, collected from one body. */
interface AskingPod {
  readonly namespace: string
  readonly pod: string
  containers: number
  init: number
  node: string
  app: string
  service: string
  appLabel: string
  serviceLabel: string
  startedS: number | undefined
}

/** Reports the pods that request GPUs, from one kube-state-metrics. */
export class GpuRequests implements TargetReader {
  readonly rows: ScrapedRows
  /** Indexed by the parser's number of the series: undefined if it was not inspected yet, null if it is not used. */
  #series: (PodSeries | null | undefined)[] = []
  #parser: ExpositionParser | undefined
  #epoch = -1
  #isRenamed = false
  #scrape = 0

  constructor(
    address: string,
    { max_series: seriesCountMax }: ScrapingOptions,
    context: SourceContext,
    claims: Claims,
  ) {
    const whyUntold: WhyUntold = (_, field) => UNTOLD[field] ?? 'kube-state-metrics does not tell it'
    this.rows = new ScrapedRows(address, context, claims, { whyUntold, seriesCountMax })
  }

  *refusal(parser: ExpositionParser): Generator<undefined, string> {
    for (let i = 0; i < parser.count; i++) {
      if (isOfPods(parser.seriesAt(i).name)) return ''
      if (i % SAMPLES_A_STEP === 0) yield
    }
    return 'answers without a series of a pod; is it a kube-state-metrics, and are its pod metrics on?'
  }

  *report(parser: ExpositionParser): Generator<undefined, void> {
    this.#scrape++
    yield* this.#follow(parser)
    const time = wallNs()
    // Every body offers all pods again.
    this.rows.look()
    const asking = yield* this.#asking(parser)
    for (const pod of asking.values()) {
      this.#reportPod(pod)
      yield
    }
    yield* this.rows.finish(this.#scrape, time, 'the pod is gone, or has finished')
  }

  #reportPod({ namespace, pod: name, ...told }: AskingPod): void {
    const subject = podSubject(namespace, name)
    const dispute = this.rows.claim(subject)
    const row = dispute === undefined ? this.rows.of(subject, podInfoType, { namespace, pod: name }) : undefined
    if (row === undefined) {
      this.rows.refuse(dispute ?? LEFT_OUT, this.#scrape)
      return
    }
    row.begin(this.#scrape)
    const { app, service, appLabel: app_label, serviceLabel: service_label, node: node_name } = told
    const { containers, init, startedS } = told
    const texts = {
      app,
      service,
      app_label,
      service_label,
      node_name,
      phase: '',
      waiting: '',
      labels: '',
      uid: '',
      via: VIA,
    }
    for (const [text, value] of Object.entries(texts)) row.renewText(text, value)
    const requested = Math.max(containers, init)
    const isWhole = Number.isInteger(requested)
    const lack = () => new Missing('failed', `${requested} GPUs were reported; pods ask for whole ones`)
    row.set('requested_gpus', isWhole ? requested : lack(), true)
    if (startedS !== undefined) row.set('start_time_seconds', startedS, true)
  }

  fail(reason: string): void {
    this.rows.fail(reason)
  }

  leave(reason: string): void {
    this.rows.leave(reason)
    this.#series = []
  }

  /**
   * Pods that request GPUs and have not finished, by name. If two have the same name, as during a replacement, the
   * later counts.
   */
  *#asking(parser: ExpositionParser): Generator<undefined, ReadonlyMap<string, AskingPod>> {
    const pods = new Map<string, AskingPod>()
    for (let i = 0; i < parser.count; i++) {
      if (i % SAMPLES_A_STEP === 0) yield
      const series = this.#seriesOf(parser, i)
      const value = parser.values[i] as number
      if (series === null || value < 0) continue
      if (series.fact === 'container') askingPod(pods, series).containers += value
      // Init containers run one after another before the others, so their largest request counts.
      else if (series.fact === 'init') askingPod(pods, series).init = Math.max(askingPod(pods, series).init, value)
    }
    for (let i = 0; i < parser.count && pods.size > 0; i++) {
      if (i % SAMPLES_A_STEP === 0) yield
      const series = this.#seriesOf(parser, i)
      const pod = series === null ? undefined : pods.get(series.key)
      if (series === null || pod === undefined) continue
      const value = parser.values[i] as number
      if (series.fact === 'finished' && value === 1) pods.delete(series.key)
      else if (series.fact === 'started' && value > 0) pod.startedS = value
      if (series.node !== '') pod.node = series.node
      if (series.fact !== 'labels') continue
      const { app, service, appLabel, serviceLabel } = series
      Object.assign(pod, { app, service, appLabel, serviceLabel })
    }
    const byName = new Map<string, AskingPod>()
    let count = 0
    for (const pod of pods.values()) {
      if (++count % SAMPLES_A_STEP === 0) yield
      if (Math.max(pod.containers, pod.init) === 0) continue
      const name = JSON.stringify([pod.namespace, pod.pod])
      const other = byName.get(name)
      if (other === undefined || (pod.startedS ?? 0) > (other.startedS ?? 0)) byName.set(name, pod)
    }
    return byName
  }

  #seriesOf(parser: ExpositionParser, sample: number): PodSeries | null {
    const number = parser.numbers[sample] as number
    const known = this.#series[number]
    if (known !== undefined) return known
    const series = podSeriesOf(parser.seriesAt(sample), this.#isRenamed) ?? null
    this.#series[number] = series
    return series
  }

  /** Updates the series when the parser changes its numbers, or when a Prometheus starts or stops renaming labels. */
  *#follow(parser: ExpositionParser): Generator<undefined, void> {
    let isRenamedNow = false
    for (let i = 0; i < parser.count && !isRenamedNow; i++) {
      isRenamedNow = isRenamed(parser.seriesAt(i).labels)
      if (i % SAMPLES_A_STEP === 0) yield
    }
    if (parser === this.#parser && parser.epoch === this.#epoch && isRenamedNow === this.#isRenamed) return
    this.#parser = parser
    this.#epoch = parser.epoch
    this.#isRenamed = isRenamedNow
    this.#series = []
  }
}

function askingPod(pods: Map<string, AskingPod>, { key, namespace, pod }: PodSeries): AskingPod {
  let asking = pods.get(key)
  if (asking === undefined) {
    asking = {
      ...{ namespace, pod, containers: 0, init: 0, node: '', startedS: undefined },
      ...{ app: '', service: '', appLabel: '', serviceLabel: '' },
    }
    pods.set(key, asking)
  }
  return asking
}
