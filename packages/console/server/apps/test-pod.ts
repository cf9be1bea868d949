import { GPU_FIELDS, type GpuField } from '@sonde/sdk/api'
import type { AppPod } from './app-pod.ts'

type Values = Partial<Record<GpuField, number>>

/** A pod of a test: `decode` of the app `chat`, with a GPU. */
export function podOf(name: string, values: Values, more: Partial<AppPod> = {}): AppPod {
  return {
    ...{ namespace: 'ml', name, service: 'decode', gpus: 1, instances: 0, requested: 1, isWarming: false },
    ...{ key: name, app: 'chat', startedMs: 0, ageMs: 0, isSimulated: false },
    ...{ sharedWith: 0, isScheduled: null, deviceValues: {}, gaps: [], attribution: null },
    ...{ node: '', condition: { rank: 9, tone: 'ok', words: 'ok' } },
    values: Object.fromEntries(GPU_FIELDS.map((field) => [field, values[field] ?? null])) as AppPod['values'],
    ...more,
  }
}
