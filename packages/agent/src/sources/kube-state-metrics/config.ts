import { block } from '@sonde/sdk/config'
import type * as v from 'valibot'
import { scrapingOptions } from '../scraping/options.ts'

/** Options of the kube_state_metrics source in `data_sources`. */
// One exporter covers a whole cluster: about 10 000 new pods a day, in half a million lines.
export const kubeStateMetricsOptions = block(
  scrapingOptions({ address: 'http://127.0.0.1:8080/metrics', seriesMax: 65_536, cpuMsMax: 10_000 }),
)

/** Parsed {@link kubeStateMetricsOptions}. */
export type KubeStateMetricsOptions = v.InferOutput<typeof kubeStateMetricsOptions>
