import { podInfoType } from '../pods/type.ts'
import { refuseCredentials } from '../scraping/credentials.ts'
import { INTERVAL_MS } from '../scraping/options.ts'
import type { SourceDefinition } from '../source.ts'
import { type KubeStateMetricsOptions, kubeStateMetricsOptions } from './config.ts'

/** Registry row of kube-state-metrics: runs only on request. */
export const kubeStateMetrics: SourceDefinition = {
  name: 'kube_state_metrics',
  summary: 'Pods that ask for GPUs, as kube-state-metrics tells of them',
  types: [podInfoType],
  host: 'worker',
  intervalMs: INTERVAL_MS,
  options: kubeStateMetricsOptions,
  isOnRequest: true,
  isSecondHand: true,
  // A Prometheus usually scrapes kube-state-metrics directly.
  isExported: () => false,
  refuse: async (options) => refuseCredentials(options as KubeStateMetricsOptions),
  async load() {
    const [{ ScrapingSource }, { GpuRequests }] = await Promise.all([
      import('../scraping/scraping-source.ts'),
      import('./gpu-requests.ts'),
    ])
    return {
      create: (given, context) => {
        const options = given as KubeStateMetricsOptions
        return new ScrapingSource(
          options,
          context,
          (address, claims) => new GpuRequests(address, options, context, claims),
        )
      },
    }
  },
}
