import type { PrometheusOptions } from '@sonde/sdk'
import type { AgentConfig } from './config.ts'

/** The options of the view from `export.prometheus`. */
export function prometheusOptions({ export: { prometheus }, paths }: AgentConfig): PrometheusOptions {
  return {
    timestamps: prometheus.timestamps,
    seriesExpiryS: prometheus.series_expiry_s,
    seriesLimit: prometheus.series_limit,
    sourceTags: prometheus.source_tags,
    indexes: prometheus.indexes,
    metadataFile: prometheus.metadata_file,
    constantLabels: {
      ...Object.fromEntries(prometheus.constant_labels.map(pairOf)),
      ...(prometheus.node === undefined ? {} : { node: prometheus.node }),
    },
    sysfs: paths.sysfs,
  }
}

function pairOf(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}
