import type { LatestSeries, MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import type { QueryColumns } from '../../api/query-client.ts'
import { useKnownColumns } from '../../api/use-known-columns.ts'
import { heldGpus } from '../app/held-gpus.ts'

/** Sources of pods report at least this often, so that one step has a value of each pod. Unit: milliseconds. */
const STEP_MS = 30_000
const QUERIES: readonly MetricQuery[] = ['pod_device_present', 'pod_gpus'].map((metric) => ({
  metric,
  function: 'last',
}))
const NO_VALUES = new Float64Array(0)

/** Pods, or jobs of a batch system, that held a device at a time. */
interface PodsThen {
  /** Keys of the pods by the id of the device, sorted. */
  readonly byDevice: ReadonlyMap<string, readonly string[]>
  /** Whether the records of the time were read. */
  readonly isKnown: boolean
}

/** The pods that held devices when an incident began. */
export function usePodsThen(startMs: number, devices: readonly DeviceInfo[]): PodsThen {
  const range = useMemo(() => {
    const fromMs = Math.floor(startMs / STEP_MS) * STEP_MS
    return { kind: 'fixed', fromMs, toMs: fromMs + STEP_MS } as const
  }, [startMs])
  const answer = useKnownColumns(QUERIES, range, STEP_MS)
  return useMemo(() => ({ byDevice: podsThen(answer, devices), isKnown: answer.isReady }), [answer, devices])
}

/** The pods of each device in the samples around a time. */
export function podsThen(
  answer: Pick<QueryColumns, 'grid' | 'columns'>,
  devices: readonly DeviceInfo[],
): ReadonlyMap<string, readonly string[]> {
  const columns = QUERIES.flatMap((query) =>
    answer
      .columns(query)
      .map((column) => ({ ...query, labels: column.labels, values: answer.grid?.slice(column) ?? NO_VALUES })),
  )
  // A pod without a value at the newest step ended before.
  const newest = Math.max(...columns.map(({ values }) => values.findLastIndex((one) => !Number.isNaN(one))))
  const series = columns.flatMap(({ metric, labels, values }): LatestSeries[] => {
    const value = values[newest] ?? Number.NaN
    return Number.isNaN(value) ? [] : [{ metric, labels, timeMs: 0, value: String(value), absent: '' }]
  })
  const pods = new Map<string, string[]>()
  for (const [pod, gpus] of heldGpus(series, devices))
    for (const { device } of gpus) pods.set(device.id, [...(pods.get(device.id) ?? []), pod])
  for (const keys of pods.values()) keys.sort()
  return pods
}
