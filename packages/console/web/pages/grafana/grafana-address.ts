import type { ListedDevice } from '@sonde/sdk/api'
import type { FrameRange } from '../../api/frame.ts'

/** A dashboard of Grafana, and what it is to show. */
export interface GrafanaQuestion {
  /** UID of the dashboard. */
  readonly dashboard: string
  /** Values of variables whose names are parameters: `app` stands for `grafana_dashboard_var_app`. */
  readonly named?: Readonly<Partial<Record<(typeof GRAFANA_VARIABLES)[number], string>>>
  /** Values of variables that are named like labels of metrics. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Variables of dashboards whose names are parameters. */
export const GRAFANA_VARIABLES = ['app', 'service', 'namespace', 'rack'] as const

/** Kinds of devices that have a dashboard, which is `sonde-` and the kind, and the labels that it filters by. */
const LABELS: Readonly<Record<string, readonly string[]>> = {
  gpu: ['gpu', 'UUID'],
  nic: ['rdma_device', 'port'],
  netdev: ['device'],
}

/** The dashboard of the GPUs of an app. With pods of several namespaces it keeps its own choice of a namespace. */
export function appQuestion(app: string, namespaces: ReadonlySet<string>): GrafanaQuestion {
  const [only = ''] = namespaces.size === 1 ? namespaces : []
  return { dashboard: 'sonde-gpu-app', named: { app, namespace: only } }
}

/** The dashboard of a device, with its node and its labels; undefined if its kind has none. */
export function deviceQuestion({
  kind,
  host,
  labels,
}: Pick<ListedDevice, 'kind' | 'host' | 'labels'>): GrafanaQuestion | undefined {
  const names = LABELS[kind]
  if (names === undefined) return undefined
  const own = names.map((name) => [name, labels[name] ?? ''] as const)
  return { dashboard: `sonde-${kind}`, labels: { node: host, ...Object.fromEntries(own) } }
}

/**
 * The address of a dashboard in Grafana, with the names of variables and the window of the page; empty without
 * `grafana_url`. Credentials of that URL are not in it: browsers have their own. Empty values are left out.
 *
 * @param param The value of a parameter; secrets are hidden.
 */
export function grafanaAddress(
  param: (name: string) => string,
  { dashboard, named = {}, labels = {} }: GrafanaQuestion,
  range: FrameRange,
): string {
  const base = param('grafana_url')
    .replace(/^(https?:\/\/)[^/@]*@/, '$1')
    .replace(/\?.*$/, '')
    .replace(/\/+$/, '')
  if (base === '') return ''
  const query = new URLSearchParams()
  const ofParams = Object.entries(named).map(([of, value]) => [param(`grafana_dashboard_var_${of}`), value] as const)
  for (const [name, value] of [...ofParams, ...Object.entries(labels)])
    if (value !== '') query.set(`var-${name}`, value)
  const [from, to] =
    range.kind === 'live' ? [`now-${range.windowMs / 1000}s`, 'now'] : [`${range.fromMs}`, `${range.toMs}`]
  query.set('from', from)
  query.set('to', to)
  return `${base}/d/${dashboard}/?${query}`
}
