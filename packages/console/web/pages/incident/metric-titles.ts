import type { ListedType } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { useTypes } from '../../api/resources.ts'

/** How a metric is called in words. */
export interface MetricTitle {
  /** A few words, such as `Power drawn`. */
  readonly title: string
  /** The whole description. */
  readonly help: string
}

/** The titles of metrics by their names. A metric that the server no longer knows is called by its name. */
export type MetricTitles = (metric: string) => MetricTitle

/** Titles are the first words of the descriptions; the whole description where two metrics share those. */
export function metricTitles(types: readonly ListedType[]): MetricTitles {
  const helps = new Map(types.flatMap(({ fields }) => fields.map(({ metric, help }) => [metric, help] as const)))
  const counts = new Map<string, number>()
  for (const help of helps.values()) counts.set(firstWords(help), (counts.get(firstWords(help)) ?? 0) + 1)
  return (metric) => {
    const help = helps.get(metric) ?? ''
    if (help === '') return { title: metric, help: metric }
    const short = firstWords(help)
    return { title: counts.get(short) === 1 ? short : help, help }
  }
}

/** The titles of the metrics of this server. */
export function useMetricTitles(): MetricTitles {
  const { data } = useTypes()
  return useMemo(() => metricTitles(data?.types ?? []), [data])
}

/** What stands before details in a description. */
function firstWords(help: string): string {
  return /^[^,:;]*/.exec(help)?.[0] ?? help
}
