import type { FrameRange } from '../../api/frame.ts'

/** The subject of a dashboard of Grafana. */
export interface GrafanaQuestion {
  readonly app: string
  /** Empty: pods of several namespaces, so the dashboard keeps its own choice. */
  readonly namespace: string
  readonly range: FrameRange
}

/** The dashboard of the GPUs of an app. */
const DASHBOARD = 'sonde-gpu-app'

/**
 * The address of the dashboard of an app in Grafana, with the names of variables and the window of the page; empty
 * without `grafana_url`. Credentials of that URL are not in it: browsers have their own.
 *
 * @param param The value of a parameter; secrets are hidden.
 */
export function grafanaAddress(param: (name: string) => string, { app, namespace, range }: GrafanaQuestion): string {
  const base = param('grafana_url')
    .replace(/^(https?:\/\/)[^/@]*@/, '$1')
    .replace(/\?.*$/, '')
    .replace(/\/+$/, '')
  if (base === '') return ''
  const query = new URLSearchParams()
  query.set(`var-${param('grafana_dashboard_var_app')}`, app)
  if (namespace !== '') query.set(`var-${param('grafana_dashboard_var_namespace')}`, namespace)
  const [from, to] =
    range.kind === 'live' ? [`now-${range.windowMs / 1000}s`, 'now'] : [`${range.fromMs}`, `${range.toMs}`]
  query.set('from', from)
  query.set('to', to)
  return `${base}/d/${DASHBOARD}/?${query}`
}
