import { closeSync, openSync, writeSync } from 'node:fs'
import type { Batch } from '@sonde/sdk'
import { createOwnSource } from '@sonde/sdk/internal'
import { POD_FIELDS } from '../../packages/agent/src/pods/fields.ts'
import { appGpuType } from '../../packages/agent/src/pods/type.ts'

export const APP = 'chat'
export const SERVICES = 100
export const PODS = 10
export const HOURS = 24
/** Period of the rows. Unit: milliseconds. */
export const INTERVAL_MS = 15_000
const SAMPLES = (HOURS * 3_600_000) / INTERVAL_MS

/** The eight numbers of charts. */
const FIELDS = POD_FIELDS.filter(({ base }) => base !== 'memory_total')
export const serviceName = (service: number) => `service-${String(service).padStart(3, '0')}`

/** Metrics of a field's mean, least, most and count, as they are exposed. */
export const METRICS = FIELDS.map(({ base, suffix }) => ({
  avg: `app_gpu_${base}_${suffix}`,
  min: `app_gpu_${base}_min_${suffix}`,
  max: `app_gpu_${base}_max_${suffix}`,
  count: `app_gpu_${base}_pods`,
}))
/** Metric of a pod, for the raw question. */
export const RAW_METRIC = 'pod_gpu_util_ratio'

/** A number between 0 and 1 that looks random, and is the same on both sides. */
function noise(service: number, field: number, sample: number): number {
  const x = Math.imul(service * 7919 + field * 104_729 + sample, 2_654_435_761)
  return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32
}

/** Mean of a service, and how far the outermost pods are from it; memory in whole MiB. */
function numbersOf(service: number, field: number, sample: number): { mean: number; spread: number } {
  const busy = 0.5 + 0.35 * Math.sin(sample / 240 + service) + 0.1 * (noise(service, field, sample) - 0.5)
  const suffix = FIELDS[field]?.suffix
  if (suffix === 'bytes') return { mean: Math.floor(busy * 80_000) * 2 ** 20, spread: 4500 * 2 ** 20 }
  if (suffix === 'watts') return { mean: Math.round(busy * 70_000) / 100, spread: 4.5 }
  return { mean: Math.round(busy * 10_000) / 10_000, spread: 0.045 }
}

/** Reports the rows of `hour` hours from the first, as the agent records them. */
export function rowsInto(emit: (batch: Batch) => void, fromMs: number): (hour: number) => void {
  const source = createOwnSource({ id: 'pods', labels: {}, intervalMs: INTERVAL_MS, emit })
  const perHour = SAMPLES / HOURS
  return (hour) => {
    for (let sample = hour * perHour; sample < (hour + 1) * perHour; sample++) {
      const time = BigInt(fromMs + (sample + 1) * INTERVAL_MS) * 1_000_000n
      for (let service = 0; service < SERVICES; service++)
        source.report(appGpuType, rowOf(time, service, sample) as never)
      source.emit()
    }
  }
}

function rowOf(time: bigint, service: number, sample: number): Record<string, unknown> {
  const labels = { app: APP, service: serviceName(service) }
  const row: Record<string, unknown> = { time, ...labels, pods: PODS, gpus: PODS, memory_total_pods: 0 }
  for (const [field, { base, suffix }] of FIELDS.entries()) {
    const { mean, spread } = numbersOf(service, field, sample)
    row[`${base}_${suffix}`] = mean
    row[`${base}_min_${suffix}`] = mean - spread
    row[`${base}_max_${suffix}`] = mean + spread
    row[`${base}_pods`] = PODS
  }
  return row
}

/** Writes the same numbers, and those of the pods of one field, as OpenMetrics for promtool. Gives the lines. */
export function writeOpenMetrics(path: string, fromMs: number): number {
  const file = openSync(path, 'w')
  let lines = 0
  const series = (labels: string, valueAt: (sample: number) => number) => {
    const text: string[] = []
    for (let sample = 0; sample < SAMPLES; sample++) {
      text.push(`${labels} ${valueAt(sample)} ${(fromMs + (sample + 1) * INTERVAL_MS) / 1000}\n`)
    }
    lines += SAMPLES
    writeSync(file, text.join(''))
  }
  for (const [field, { avg, min, max, count }] of METRICS.entries()) {
    for (const [metric, factor] of [
      [avg, 0],
      [min, -1],
      [max, 1],
      [count, undefined],
    ] as const) {
      writeSync(file, `# TYPE ${metric} gauge\n`)
      for (let service = 0; service < SERVICES; service++) {
        series(`${metric}{app="${APP}",service="${serviceName(service)}"}`, (sample) => {
          if (factor === undefined) return PODS
          const { mean, spread } = numbersOf(service, field, sample)
          return mean + factor * spread
        })
      }
    }
  }
  writeSync(file, `# TYPE ${RAW_METRIC} gauge\n`)
  for (let service = 0; service < SERVICES; service++) {
    for (let pod = 0; pod < PODS; pod++) {
      const name = `${serviceName(service)}-${pod}`
      const labels = `app="${APP}",service="${serviceName(service)}",namespace="ml",pod="${name}"`
      series(`${RAW_METRIC}{${labels}}`, (sample) => {
        const { mean, spread } = numbersOf(service, 0, sample)
        return mean + (spread * (pod - (PODS - 1) / 2)) / ((PODS - 1) / 2)
      })
    }
  }
  writeSync(file, '# EOF\n')
  closeSync(file)
  return lines
}
