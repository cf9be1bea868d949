import type { History, Labels, SeriesQuery } from '@sonde/sdk'
import { type AppSummary, turn } from '@sonde/sdk/internal'
import { appMetric } from './fields.ts'
import { serviceMatchers } from './matchers.ts'
import { requestOfNow } from './pods.ts'

/** A service as its row says: how large it is, and what the list of apps shows. */
export interface ServiceSize {
  readonly app: string
  readonly name: string
  readonly pods: number
  readonly gpus: number
  readonly util: { readonly avg: number; readonly min: number; readonly max: number; readonly count: number } | null
  readonly power: { readonly avg: number; readonly count: number } | null
}

const METRICS = {
  pods: 'app_gpu_pods',
  gpus: 'app_gpu_gpus',
  utilAvg: appMetric('gpu-util', 'avg'),
  utilMin: appMetric('gpu-util', 'min'),
  utilMax: appMetric('gpu-util', 'max'),
  utilCount: appMetric('gpu-util', 'count'),
  powerAvg: appMetric('gpu-power-w', 'avg'),
  powerCount: appMetric('gpu-power-w', 'count'),
} as const

/**
 * Services of an app, or of all apps, those with the most GPUs first: one request for a row a service, however many
 * pods there are.
 */
export async function servicesBySize(history: History, app?: string): Promise<ServiceSize[]> {
  const matchers = app === undefined ? [] : serviceMatchers(app, undefined)
  const queries = Object.values(METRICS).map((metric): SeriesQuery => {
    return { metric, function: 'last', matchers, by: undefined, aggregate: 'sum' }
  })
  const { results } = await history.query(requestOfNow(Date.now(), queries))
  const rows = new Map<string, { labels: Labels; numbers: Map<string, number> }>()
  for (const { metric, series } of results) {
    for (const { labels, values } of series) {
      if (turn.isOver()) await turn.next()
      const value = values[values.length - 1] ?? Number.NaN
      if (Number.isNaN(value)) continue
      const key = JSON.stringify([labels.app, labels.service, labels.simulated])
      const row = rows.get(key) ?? { labels, numbers: new Map() }
      rows.set(key, row)
      row.numbers.set(metric, value)
    }
  }
  // The last row of a service whose pods are gone says that it has none.
  const sizes = Array.from(rows.values(), ({ labels, numbers }) => sizeOf(labels, numbers)).filter(
    ({ pods }) => pods > 0,
  )
  return sizes.sort((a, b) => b.gpus - a.gpus || (a.app < b.app || (a.app === b.app && a.name < b.name) ? -1 : 1))
}

function sizeOf(labels: Labels, numbers: ReadonlyMap<string, number>): ServiceSize {
  const of = (key: keyof typeof METRICS) => numbers.get(METRICS[key])
  const [avg, min, max, count] = [of('utilAvg'), of('utilMin'), of('utilMax'), of('utilCount')]
  const [power, powerCount] = [of('powerAvg'), of('powerCount')]
  return {
    app: labels.app ?? '',
    name: labels.service ?? '',
    pods: of('pods') ?? 0,
    gpus: of('gpus') ?? 0,
    util: avg === undefined || min === undefined || max === undefined || !count ? null : { avg, min, max, count },
    power: power === undefined || !powerCount ? null : { avg: power, count: powerCount },
  }
}

/** The apps of services, in the order of their names. */
export function appsOf(services: readonly ServiceSize[]): AppSummary[] {
  const byName = Map.groupBy(services, ({ app }) => app)
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, ofApp]) => summaryOf(name, ofApp))
}

function summaryOf(name: string, services: readonly ServiceSize[]): AppSummary {
  const sum = (numberOf: (service: ServiceSize) => number) => services.reduce((total, one) => total + numberOf(one), 0)
  const utils = services.flatMap(({ util }) => util ?? [])
  const count = utils.reduce((total, util) => total + util.count, 0)
  const utilSum = utils.reduce((total, util) => total + util.avg * util.count, 0)
  const min = Math.min(...utils.map((util) => util.min))
  const max = Math.max(...utils.map((util) => util.max))
  const powers = services.flatMap(({ power }) => power ?? [])
  return {
    name,
    services: services.length,
    pods: sum(({ pods }) => pods),
    gpus: sum(({ gpus }) => gpus),
    util: count === 0 ? null : { avg: utilSum / count, min, max, count },
    powerW: powers.length === 0 ? null : powers.reduce((total, power) => total + power.avg * power.count, 0),
  }
}

/** The services that one answer shows: those with the most GPUs, at most so many, and at most so many pods. */
export function largestOf(services: readonly ServiceSize[], serviceMax: number, podMax: number): string[] {
  const names: string[] = []
  let pods = 0
  for (const service of services.slice(0, serviceMax)) {
    pods += service.pods
    if (names.length > 0 && pods > podMax) break
    names.push(service.name)
  }
  return names
}
