// Every metric of every type that Sonde declares: what docs/metrics.md and the golden list of names are made of.

import type { FieldClass, RecordType } from '@sonde/sdk'
import { sinkHealthType, sourceHealthType, storeHealthType } from '@sonde/sdk/internal'
import { hintCountType } from '../../packages/agent/src/hints/hints.ts'
import { originType } from '../../packages/agent/src/infos/origin-type.ts'
import { INFO_METRICS } from '../../packages/agent/src/infos/type.ts'
import { faultType } from '../../packages/agent/src/pipeline/faults.ts'
import { appGpuType, podGpuNicType, podGpuType, sharedGpuType } from '../../packages/agent/src/pods/type.ts'
import { SELF_TYPES } from '../../packages/agent/src/self.ts'
import { refusalType, serviceType } from '../../packages/agent/src/service/stats.ts'
import { SOURCES } from '../../packages/agent/src/sources/registry.ts'
import { fieldSetsType } from '../../packages/sdk/src/fieldset/health.ts'
import { lossType } from '../../packages/sdk/src/schema/builtin.ts'
import { constantLabelText } from '../../packages/sdk/src/schema/constant-labels.ts'
import { sumSlotOf } from '../../packages/sdk/src/schema/histogram.ts'
import { labelFileType } from '../../packages/sdk/src/sinks/prometheus/health.ts'

/** A metric as a type declares it. */
export interface DeclaredMetric {
  readonly name: string
  /** As text 0.0.4 says it. */
  readonly kind: 'counter' | 'gauge' | 'histogram' | 'untyped'
  /** Empty if it has none. */
  readonly unit: string
  /** Names of the labels. */
  readonly labels: readonly string[]
  /** Values of constant labels, by the name of the label. */
  readonly constant: ReadonlyMap<string, readonly string[]>
  readonly help: string
  /** First field of the type that fills it. */
  readonly field: string
  /** The classes of the fields that fill it, and for each its constant labels as text. */
  readonly classes: ReadonlyMap<FieldClass, readonly string[]>
}

/** A type that has metrics. */
export interface DeclaredType {
  readonly type: RecordType
  /** Names of the sources that report it; empty if the agent itself does. */
  readonly sources: readonly string[]
  readonly metrics: readonly DeclaredMetric[]
}

const AGENT_TYPES: readonly RecordType[] = [
  ...[podGpuType, podGpuNicType, sharedGpuType, appGpuType],
  ...INFO_METRICS.map(({ type }) => type),
  ...SELF_TYPES,
  ...[sourceHealthType, sinkHealthType, storeHealthType, lossType, faultType, hintCountType, originType],
  ...[serviceType, refusalType, labelFileType, fieldSetsType],
]

/** All types that have metrics, by name. */
export function declaredTypes(): DeclaredType[] {
  const sources = new Map<RecordType, string[]>(AGENT_TYPES.map((type) => [type, []]))
  for (const { name, types } of SOURCES)
    for (const type of types) sources.set(type, [...(sources.get(type) ?? []), name])
  return [...sources]
    .map(([type, names]) => ({ type, sources: names, metrics: metricsOf(type) }))
    .filter(({ metrics }) => metrics.length > 0)
    .sort((a, b) => (a.type.name < b.type.name ? -1 : 1))
}

/** A line for each metric: name, type, unit and labels of all types that have it, constant ones with their values. */
export function metricNames(): string {
  const metrics = new Map<string, DeclaredMetric>()
  for (const metric of declaredTypes().flatMap((declared) => declared.metrics)) join(metrics, metric)
  const lines = [...metrics.values()].map(({ name, kind, unit, labels, constant }) => {
    const shown = labels.map((label) => [label, ...(constant.has(label) ? [constant.get(label)?.join('|')] : [])])
    return `${name} ${kind} ${unit || '-'} ${shown.map((parts) => parts.join('=')).join(',') || '-'}\n`
  })
  return lines.sort().join('')
}

/**
 * A line for each metric of the core set; of a metric that is only in part in it, with the constant labels of the part.
 */
export function coreMetrics(): string {
  const metrics = new Map<string, DeclaredMetric>()
  for (const metric of declaredTypes().flatMap((declared) => declared.metrics)) join(metrics, metric)
  const lines = [...metrics.values()].flatMap(({ name, classes }) => {
    const core = classes.get('core')
    if (core === undefined) return []
    return classes.has('full') ? core.map((labels) => `${name}{${labels}}\n`) : [`${name}\n`]
  })
  return lines.sort().join('')
}

function metricsOf(type: RecordType): DeclaredMetric[] {
  const { slots } = type.layout
  const sums = new Set(slots.filter(({ field }) => field.role === 'bucket').map((slot) => sumSlotOf(type, slot)))
  const metrics = new Map<string, DeclaredMetric>()
  for (const slot of slots) {
    const name = type.metrics.get(slot.name)
    if (name === undefined || sums.has(slot)) continue
    const { role, count, unit = '', help = '', metricType, labels: own = {}, class: fieldClass = 'core' } = slot.field
    const ofRole = role === 'bucket' ? 'histogram' : role === 'counter' ? 'counter' : 'gauge'
    const kind = metricType === undefined ? ofRole : 'untyped'
    const index = role !== 'bucket' && count > 1 ? ['index'] : []
    const labels = [...type.labels.map((label) => label.name), ...Object.keys(own), ...index]
    const constant = new Map(Object.entries(own).map(([label, value]) => [label, [value]]))
    const classes = new Map([[fieldClass, [constantLabelText(slot.field)]]])
    join(metrics, { name, kind, unit, labels, constant, help, field: slot.name, classes })
  }
  return [...metrics.values()]
}

/** Fields and types share a metric: it has the labels of all. */
function join(metrics: Map<string, DeclaredMetric>, metric: DeclaredMetric): void {
  const known = metrics.get(metric.name) ?? metric
  const labels = [...new Set([...known.labels, ...metric.labels])]
  const constant = new Map(known.constant)
  for (const [label, values] of metric.constant)
    constant.set(label, [...new Set([...(constant.get(label) ?? []), ...values])])
  const classes = new Map(known.classes)
  for (const [fieldClass, texts] of metric.classes)
    classes.set(fieldClass, [...new Set([...(classes.get(fieldClass) ?? []), ...texts])])
  metrics.set(metric.name, { ...known, labels, constant, classes })
}
