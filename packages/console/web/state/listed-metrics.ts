import type { ListedMetric, ListedType, Matcher } from '@sonde/sdk/api'

/**
 * The metrics of a type, each once. Fields with constant labels share a metric: the first stands for all, named like
 * the metric without the name of the type.
 */
export function metricsOfType({ name, fields }: Pick<ListedType, 'name' | 'fields'>): readonly ListedMetric[] {
  const prefix = `${name}_`
  const metrics = new Map<string, ListedMetric>()
  for (const field of fields) {
    const { labels, ...shared } = field
    if (metrics.has(field.metric)) continue
    const short = field.metric.startsWith(prefix) ? field.metric.slice(prefix.length) : field.metric
    metrics.set(field.metric, labels === undefined ? field : { ...shared, name: short })
  }
  return [...metrics.values()]
}

/** The names of the constant labels of a metric. */
export function constantNames({ fields }: Pick<ListedType, 'fields'>, metric: string): readonly string[] {
  const ofMetric = fields.filter((field) => field.metric === metric)
  return [...new Set(ofMetric.flatMap(({ labels = {} }) => Object.keys(labels)))]
}

/** The names of all labels of a metric: those of the type, and the constant labels of its fields. */
export function metricLabelNames(type: Pick<ListedType, 'labels' | 'fields'>, metric: string): readonly string[] {
  return [...type.labels, ...constantNames(type, metric)]
}

/** The conditions that select a field among the fields of its metric. */
export function fieldMatchers({ labels = {} }: Pick<ListedMetric, 'labels'>): readonly Matcher[] {
  return Object.entries(labels).map(([label, value]) => ({ label, op: '=', value }))
}
