import type { Labels } from '@sonde/sdk'
import type { AppSummary, AppsAnswer } from '@sonde/sdk/api'
import { type History, type SeriesQuery, turn } from '@sonde/sdk/internal'
import type { AppPod } from './app-pod.ts'
import { appConditionOf, byAppSickness, podNamesOf, type RankedApp, WELL_RANK } from './condition.ts'
import { appMetric, shownNumber } from './fields.ts'
import { serviceMatchers } from './matchers.ts'
import { isOfSample, requestOfNow } from './now.ts'
import {
  distinct,
  heldCount,
  type SharedGpu,
  serviceKey,
  sharedCount,
  sharedGpuNumber,
  sharedOf,
  sharedQueries,
} from './shared-gpus.ts'

/** A service by its row: its size, and the numbers in the list of apps. */
export interface ServiceSize {
  readonly app: string
  readonly name: string
  readonly pods: number
  readonly gpus: number
  readonly util: { readonly avg: number; readonly min: number; readonly max: number; readonly count: number } | null
  /** Sums over pods that share no GPU. */
  readonly power: { readonly avg: number; readonly count: number } | null
  /** The devices that its pods share, one row for each pod and device. */
  readonly shared: readonly SharedGpu[]
}

const METRICS = {
  pods: 'app_gpu_pods',
  gpus: 'app_gpus',
  utilAvg: appMetric('gpu-util', 'avg'),
  utilMin: appMetric('gpu-util', 'min'),
  utilMax: appMetric('gpu-util', 'max'),
  utilCount: appMetric('gpu-util', 'count'),
  powerAvg: appMetric('gpu-power-w', 'avg'),
  powerCount: appMetric('gpu-power-w', 'count'),
} as const

/**
 * Services of one or all apps, sorted by number of GPUs, largest first: one query for one row per service, independent
 * of the number of pods.
 */
export async function servicesBySize(history: History, app?: string): Promise<ServiceSize[]> {
  const matchers = app === undefined ? [] : serviceMatchers(app, undefined)
  const queries = Object.values(METRICS).map((metric): SeriesQuery => {
    return { metric, function: 'last', matchers, by: undefined, aggregate: 'sum' }
  })
  const ofShared = sharedQueries(matchers, ['gpu-power-w'])
  const { results } = await history.query(requestOfNow(Date.now(), [...queries, ...ofShared]))
  const rows = new Map<string, ServiceRow>()
  for (const { metric, series } of results.slice(0, queries.length)) {
    for (const { labels, values, newestMs: rowMs } of series) {
      if (turn.isOver()) await turn.next()
      const value = values[values.length - 1] ?? Number.NaN
      if (Number.isNaN(value)) continue
      const key = serviceKey(labels)
      const row = rows.get(key) ?? { labels, numbers: new Map(), rowMs: undefined }
      rows.set(key, row)
      row.numbers.set(metric, value)
      if (metric === METRICS.pods) row.rowMs = rowMs
    }
  }
  const shared = await sharedOf({ results: results.slice(queries.length) })
  const byService = Map.groupBy(shared, ({ service }) => service)
  // The last row of a service without pods has zero pods.
  const sizes = [...rows].map(([key, row]) => sizeOf(row, byService.get(key) ?? [])).filter(({ pods }) => pods > 0)
  return sizes.sort((a, b) => b.gpus - a.gpus || (a.app < b.app || (a.app === b.app && a.name < b.name) ? -1 : 1))
}

interface ServiceRow {
  readonly labels: Labels
  readonly numbers: Map<string, number>
  /** When it was written; undefined if the history does not report that. Unit: milliseconds since the Unix epoch. */
  rowMs: number | undefined
}

function sizeOf({ labels, numbers, rowMs: madeMs }: ServiceRow, shared: readonly SharedGpu[]): ServiceSize {
  const of = (key: keyof typeof METRICS) => numbers.get(METRICS[key])
  const utilOf = (key: 'utilAvg' | 'utilMin' | 'utilMax') => {
    const value = of(key)
    return value === undefined ? undefined : shownNumber('gpu-util', value)
  }
  const [avg, min, max, count] = [utilOf('utilAvg'), utilOf('utilMin'), utilOf('utilMax'), of('utilCount')]
  const [power, powerCount] = [of('powerAvg'), of('powerCount')]
  return {
    app: labels.app ?? '',
    name: labels.service ?? '',
    pods: of('pods') ?? 0,
    gpus: of('gpus') ?? 0,
    util: avg === undefined || min === undefined || max === undefined || !count ? null : { avg, min, max, count },
    power: power === undefined || !powerCount ? null : { avg: power, count: powerCount },
    shared: shared.filter(({ rowMs }) => isOfSample(rowMs, madeMs)),
  }
}

/** Names of the apps of services, sorted. */
export function appNames(services: readonly ServiceSize[]): string[] {
  return [...new Set(services.map(({ app }) => app))].sort()
}

/**
 * The apps of services, the sickest first.
 *
 * @param pods Their pods, the sickest first; undefined if there are too many to judge.
 */
export function appsOf(services: readonly ServiceSize[], pods: readonly AppPod[] | undefined): AppSummary[] {
  const byName = Map.groupBy(services, ({ app }) => app)
  const podsBy = pods === undefined ? undefined : Map.groupBy(pods, ({ app }) => app)
  const apps = [...byName].map(([name, ofApp]) => {
    const ofPods = podsBy?.get(name) ?? []
    const ranked = podsBy === undefined ? NOT_JUDGED : appConditionOf(ofPods)
    return { name, ranked, services: ofApp, pods: ofPods }
  })
  return apps.sort(byAppSickness).map(({ name, ranked, services: ofApp, pods: ofPods }) => ({
    ...summaryOf(name, ofApp),
    condition: ranked.condition,
    namespaces: distinctTexts(ofPods.map(({ namespace }) => namespace)),
    nodes: distinctTexts(ofPods.map(({ node }) => node)),
    podNames: podNamesOf(ofPods),
  }))
}

const NOT_JUDGED: RankedApp = {
  rank: WELL_RANK,
  condition: { tone: 'absent', words: 'not judged: more pods than one answer holds', count: 0, pods: [] },
}

function distinctTexts(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== '').sort()
}

/** Totals over all apps: a GPU that pods of several apps share counts once. */
export function totalOf(services: readonly ServiceSize[]): AppsAnswer['total'] {
  return { pods: services.reduce((sum, { pods }) => sum + pods, 0), ...gpusOf(services) }
}

type AppNumbers = Omit<AppSummary, 'condition' | 'namespaces' | 'nodes' | 'podNames'>

function summaryOf(name: string, services: readonly ServiceSize[]): AppNumbers {
  const utils = services.flatMap(({ util }) => util ?? [])
  const count = utils.reduce((total, util) => total + util.count, 0)
  const utilSum = utils.reduce((total, util) => total + util.avg * util.count, 0)
  const min = Math.min(...utils.map((util) => util.min))
  const max = Math.max(...utils.map((util) => util.max))
  return {
    name,
    services: services.length,
    pods: services.reduce((sum, { pods }) => sum + pods, 0),
    util: count === 0 ? null : { avg: utilSum / count, min, max, count },
    ...gpusOf(services),
  }
}

/** The GPUs of services together, each counted once. A device without power is left out of the power only. */
function gpusOf(services: readonly ServiceSize[]): Pick<AppSummary, 'gpus' | 'sharedGpus' | 'powerW'> {
  const devices = distinct(services.flatMap(({ shared }) => shared))
  // Each service counts a device that several services share.
  const again = services.reduce((sum, { shared }) => sum + heldCount(distinct(shared)), 0) - heldCount(devices)
  const powers = services.flatMap(({ power }) => (power === null ? [] : [power.avg * power.count]))
  const ofDevices = sharedGpuNumber(
    devices.filter(({ values }) => values['gpu-power-w'] !== undefined),
    'gpu-power-w',
  )
  if (ofDevices !== null) powers.push(ofDevices.avg * ofDevices.count)
  return {
    gpus: services.reduce((sum, { gpus }) => sum + gpus, 0) - again,
    sharedGpus: sharedCount(devices),
    powerW: powers.length === 0 ? null : powers.reduce((sum, power) => sum + power, 0),
  }
}

/** The services in one answer: those with the most GPUs, up to a limit of services and of pods. */
export function largestServices(services: readonly ServiceSize[], serviceMax: number, podMax: number): string[] {
  const names: string[] = []
  let pods = 0
  for (const service of services.slice(0, serviceMax)) {
    pods += service.pods
    if (names.length > 0 && pods > podMax) break
    names.push(service.name)
  }
  return names
}
