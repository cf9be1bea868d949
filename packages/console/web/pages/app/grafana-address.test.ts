import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grafanaAddress } from './grafana-address.ts'

const VALUES: Readonly<Record<string, string>> = {
  grafana_url: 'https://(secret)@grafana.example/sub//',
  grafana_dashboard_var_app: 'application',
  grafana_dashboard_var_namespace: 'ns',
}
const param = (name: string) => VALUES[name] ?? ''
const LIVE = { kind: 'live', windowMs: 300_000 } as const

test('the link has the variables that are set, the window of the page, and no credentials', () => {
  assert.equal(
    grafanaAddress(param, { app: 'chat & co', namespace: 'ml', range: LIVE }),
    'https://grafana.example/sub/d/sonde-gpu-app/?var-application=chat+%26+co&var-ns=ml&from=now-300s&to=now',
  )
  assert.equal(
    grafanaAddress(param, { app: 'chat', namespace: '', range: { kind: 'fixed', fromMs: 1000, toMs: 2000 } }),
    'https://grafana.example/sub/d/sonde-gpu-app/?var-application=chat&from=1000&to=2000',
  )
  assert.equal(
    grafanaAddress(() => '', { app: 'chat', namespace: '', range: LIVE }),
    '',
  )
})
