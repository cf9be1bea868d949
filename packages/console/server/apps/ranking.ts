import type { Labels } from '@sonde/sdk'
import type { AppSummary, AppsAnswer, GpuNumber } from '@sonde/sdk/api'
import { type History, type SeriesQuery, turn } from '@sonde/sdk/internal'
import type { AppPod } from './app-pod.ts'
import { appConditionOf, byAppSickness, podNamesOf, type RankedApp, WELL_RANK } from './condition.ts'
import { appMetric, shownNumber } from './fields.ts'
import { serviceMatchers } from './matchers.ts'
import { agentKey, isOfSample, requestOfNow } from './now.ts'
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

/** A service by its rows: its size, and the numbers in the list of apps. */
export interface ServiceSize {
  readonly app: string
  readonly name: string
  readonly pods: number
  readonly gpus: number
  readonly util: GpuNumber | null
  /** Sums over pods that share no GPU. */
  readonly power: Pick<GpuNumber, 'avg' | 'count'> | null
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
 * Services of one or all apps, sorted by number of GPUs, largest first: one query for one row per service and agent,
 * independent of the number of pods.
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
      const key = serviceKey(labels) + agentKey(labels)
      const row = rows.get(key) ?? { labels, numbers: new Map(), rowMs: undefined }
      rows.set(key, row)
      row.numbers.set(metric, value)
      if (metric === METRICS.pods) row.rowMs = rowMs
    }
  }
  const shared = await sharedOf({ results: results.slice(queries.length) })
  const byService = Map.groupBy(shared, ({ service }) => service)
  const services = Map.groupBy(rows.values(), ({ labels }) => serviceKey(labels))
  const all = [...services].map(([key, ofAgents]) => sizeOf(ofAgents, byService.get(key) ?? []))
  // The last row of a service without pods has zero pods.
  const sizes = all.filter(({ pods }) => pods > 0)
  return sizes.sort((a, b) => b.gpus - a.gpus || (a.app < b.app || (a.app === b.app && a.name < b.name) ? -1 : 1))
}

/** A service as one agent sees it: the pods of its node. */
interface ServiceRow {
  readonly labels: Labels
  readonly numbers: Map<string, number>
  /** When it was written; undefined if the history does not report that. Unit: milliseconds since the Unix epoch. */
  rowMs: number | undefined
}

function sizeOf(rows: readonly ServiceRow[], shared: readonly SharedGpu[]): ServiceSize {
  const sumOf = (key: keyof typeof METRICS) =>
    rows.reduce((sum, { numbers }) => sum + (numbers.get(METRICS[key]) ?? 0), 0)
  const powers = rows.flatMap(({ numbers }) => {
    const [avg, count] = [numbers.get(METRICS.powerAvg), numbers.get(METRICS.powerCount)]
    return avg === undefined || !count ? [] : [{ avg, count }]
  })
  const labels = rows[0]?.labels
  // The rows of a device are as old as the row of its agent, and agents write at different times.
  const times = rows.flatMap(({ rowMs }) => rowMs ?? [])
  const madeMs = times.length === 0 ? undefined : Math.min(...times)
  return {
    app: labels?.app ?? '',
    name: labels?.service ?? '',
    pods: sumOf('pods'),
    gpus: sumOf('gpus'),
    util: joinedNumber(rows.flatMap(utilOf)),
    power: powers.length === 0 ? null : meanOf(powers),
    shared: shared.filter(({ rowMs }) => isOfSample(rowMs, madeMs)),
  }
}

function utilOf({ numbers }: ServiceRow): GpuNumber[] {
  const of = (key: 'utilAvg' | 'utilMin' | 'utilMax') => {
    const value = numbers.get(METRICS[key])
    return value === undefined ? undefined : shownNumber('gpu-util', value)
  }
  const [avg, min, max, count] = [of('utilAvg'), of('utilMin'), of('utilMax'), numbers.get(METRICS.utilCount)]
  return avg === undefined || min === undefined || max === undefined || !count ? [] : [{ avg, min, max, count }]
}

/** One number over the pods of several; null if there is none. */
function joinedNumber(numbers: readonly GpuNumber[]): GpuNumber | null {
  if (numbers.length === 0) return null
  const min = Math.min(...numbers.map((number) => number.min))
  return { ...meanOf(numbers), min, max: Math.max(...numbers.map((number) => number.max)) }
}

/** The mean over all pods of several means. */
function meanOf(means: readonly Pick<GpuNumber, 'avg' | 'count'>[]): Pick<GpuNumber, 'avg' | 'count'> {
  const count = means.reduce((sum, mean) => sum + mean.count, 0)
  return { avg: means.reduce((sum, mean) => sum + mean.avg * mean.count, 0) / count, count }
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
  return {
    name,
    services: services.length,
    pods: services.reduce((sum, { pods }) => sum + pods, 0),
    util: joinedNumber(services.flatMap(({ util }) => util ?? [])),
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
