import type { ParamEffect } from '@sonde/sdk/api'
import * as forms from './forms.ts'

/** The description of a parameter. */
export interface ParamDefinition {
  readonly name: string
  /** Returns why a value is not allowed, as the rest of a sentence: `must be …`; empty if it is. */
  readonly faultOf: (value: string) => string
  /** The allowed values, in words. */
  readonly allowed: string
  /** Empty: it has none. */
  readonly fallback: string
  readonly purpose: string
  readonly effect: ParamEffect
  /** Whether the value is a URL whose credentials are hidden. Default: no. */
  readonly isSecretUrl?: true
  /** Whether a server of Sonde connects to the URL. Default: no. */
  readonly isConnected?: true
  /** Key of the configuration file that sets the same. */
  readonly key?: string
}

const flag = { faultOf: forms.flagFault, allowed: 'true or false', fallback: 'false' }
const variable = (of: string, fallback: string): ParamDefinition => ({
  ...{ name: `grafana_dashboard_var_${of}`, fallback, effect: 'now', faultOf: forms.variableFault },
  allowed: 'letters, digits and underscores',
  purpose: `Name of the variable of Grafana dashboards for the ${of === 'rack' ? 'cluster' : of}`,
})

/** All parameters that have an effect, in the order of the page. */
export const PARAMS: readonly ParamDefinition[] = [
  {
    ...{ name: 'gpu_observability_enable', ...flag, effect: 'render' },
    purpose: 'Whether the rendered values install dcgm-exporter and a scrape job; needs nvidia_device_plugin_enable',
  },
  {
    ...{ name: 'nvidia_device_plugin_enable', ...flag, effect: 'render' },
    purpose: 'Whether nodes run the NVIDIA device plugin, from which the exporter learns which pod has which GPU',
  },
  {
    ...{
      name: 'nvidia_device_time_slicing_replicas',
      faultOf: forms.integerFault(2, 48),
      allowed: '2 to 48',
      fallback: '',
    },
    ...{ effect: 'render', purpose: 'Pods that share a GPU in turns; without it GPUs are not shared' },
  },
  {
    ...{ name: 'dcgm_scrape_interval', faultOf: forms.durationFault(15_000, 300_000, '15s', '300s') },
    ...{ allowed: 'a duration from 15s to 5m', fallback: '15s', effect: 'render' },
    purpose: 'Time between two scrapes of dcgm-exporter, and between two readings of the exporter itself',
  },
  {
    ...{ name: 'gpu_scraper_enable', ...flag, fallback: 'true', effect: 'now' },
    purpose:
      'Whether this server reads GPU exporters: those of dcgm_exporter in data_sources, or those of its Prometheus',
  },
  {
    ...{ name: 'gpu_metrics_max_pods', faultOf: forms.integerFault(1, 500), allowed: '1 to 500', fallback: '100' },
    ...{ effect: 'now', key: 'limits.gpu_metrics_max_pods' },
    purpose: 'Services in one request for series of GPUs; the name is historical',
  },
  {
    ...{ name: 'gpu_metrics_max_concurrent', faultOf: forms.integerFault(1, 50), allowed: '1 to 50', fallback: '10' },
    ...{ effect: 'now', key: 'limits.gpu_metrics_max_concurrent' },
    purpose: 'Requests for series of GPUs that are answered at the same time',
  },
  {
    ...{ name: 'gpu_observability_chart_version', faultOf: forms.chartFault(4), allowed: '4.x.y', fallback: '4.8.1' },
    ...{ effect: 'render', purpose: 'Version of the chart of dcgm-exporter' },
  },
  {
    ...{
      name: 'prometheus_gpu_metrics_chart_version',
      faultOf: forms.chartFault(),
      allowed: 'x.y.z',
      fallback: '27.9.0',
    },
    ...{ effect: 'render', purpose: 'Version of the chart of Prometheus' },
  },
  {
    ...{ name: 'prometheus_gpu_metrics_retention', faultOf: forms.retentionFault, allowed: 'such as 24h, 7d or 2h30m' },
    ...{ fallback: '24h', effect: 'render', purpose: 'How long that Prometheus keeps samples' },
  },
  {
    ...{
      name: 'prometheus_url',
      faultOf: forms.urlFault,
      allowed: 'http(s)://HOST:PORT',
      fallback: '',
      isSecretUrl: true,
    },
    ...{ effect: 'start', key: 'console.prometheus.url', isConnected: true },
    purpose: 'Where sonde console finds the history, and where rendered autoscaling asks',
  },
  {
    ...{
      name: 'grafana_url',
      faultOf: forms.urlFault,
      allowed: 'http(s)://HOST',
      fallback: '',
      effect: 'now',
      isSecretUrl: true,
    },
    purpose: 'Where Grafana is; without it the page has no links to it',
  },
  variable('app', 'app'),
  variable('service', 'service'),
  variable('namespace', 'namespace'),
  variable('rack', 'rack'),
  {
    ...{ name: 'keda_enable', ...flag, effect: 'render' },
    purpose: 'Whether the rendered values install KEDA, which autoscaling by GPU use needs',
  },
]

/** Parameters of other consoles that can have no effect here, and why. */
export const REFUSED_PARAMS: ReadonlyMap<string, string> = new Map([
  ['cost_tracking_enable', 'Sonde has no billing: it knows no prices'],
  ['release_watcher_gc_interval', 'Sonde has no releases or deployments'],
  ['gpu_tag_enable', 'Sonde makes no cloud resources that could have tags'],
  ['webhook_signing_key', 'keys of webhooks stand in files or the environment'],
])
