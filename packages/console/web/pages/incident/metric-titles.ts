import type { ListedType } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { useTypes } from '../../api/resources.ts'
import { GPU_QUERIES, LINK_QUERIES } from '../../devices/signals.ts'
import { PORT_SIGNALS, type PortSignalInfo } from '../fabric/port-signals.ts'

/** Titles of the charts of other pages. */
const KNOWN: ReadonlyMap<string, string> = new Map([
  ...Object.values<PortSignalInfo>(PORT_SIGNALS).map(({ query, title }) => [query.metric, title] as const),
  [GPU_QUERIES.sm.metric, 'SM active'],
  [GPU_QUERIES.tensor.metric, 'Tensor active'],
  [GPU_QUERIES.dram.metric, 'DRAM active'],
  [GPU_QUERIES.utilisation.metric, 'GPU utilisation'],
  [GPU_QUERIES.power.metric, 'Power'],
  [GPU_QUERIES.temperature.metric, 'Temperature'],
  [GPU_QUERIES.clock.metric, 'SM clock'],
  ['DCGM_FI_DEV_CLOCKS_EVENT_REASONS', 'Throttle reasons'],
  ...['FP16', 'FP32', 'FP64'].map((pipe) => [`DCGM_FI_PROF_PIPE_${pipe}_ACTIVE`, `${pipe} active`] as const),
  [GPU_QUERIES.nvlinkSent.metric, 'NVLink sent'],
  [GPU_QUERIES.nvlinkReceived.metric, 'NVLink received'],
  [LINK_QUERIES.bandwidth.metric, 'PCIe link'],
])

/** How a metric is called in words. */
interface MetricTitle {
  /** A few words, such as `Power drawn`. */
  readonly title: string
  /** The whole description. */
  readonly help: string
}

/** The titles of metrics by their names. A metric that the server no longer knows is called by its name. */
export type MetricTitles = (metric: string) => MetricTitle

/**
 * The titles of the charts of other pages; else the first words of the descriptions, or the whole description where two
 * metrics share those.
 */
export function metricTitles(types: readonly ListedType[]): MetricTitles {
  const helps = new Map(types.flatMap(({ fields }) => fields.map(({ metric, help }) => [metric, help] as const)))
  const counts = new Map<string, number>()
  for (const help of helps.values()) counts.set(firstWords(help), (counts.get(firstWords(help)) ?? 0) + 1)
  return (metric) => {
    const help = helps.get(metric) ?? ''
    if (help === '') return { title: metric, help: metric }
    const known = KNOWN.get(metric)
    if (known !== undefined) return { title: known, help }
    const short = firstWords(help)
    return { title: counts.get(short) === 1 ? short : help, help }
  }
}

/** The titles of the metrics of this server. */
export function useMetricTitles(): MetricTitles {
  const { data } = useTypes()
  return useMemo(() => metricTitles(data?.types ?? []), [data])
}

/** The first words of a description, without its details. */
function firstWords(help: string): string {
  return /^[^,:;]*/.exec(help)?.[0] ?? help
}
