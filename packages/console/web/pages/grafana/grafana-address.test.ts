import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appQuestion, deviceQuestion, grafanaAddress } from './grafana-address.ts'

const VALUES: Readonly<Record<string, string>> = {
  grafana_url: 'https://(secret)@grafana.example/sub//',
  grafana_dashboard_var_app: 'application',
  grafana_dashboard_var_namespace: 'ns',
}
const param = (name: string) => VALUES[name] ?? ''
const LIVE = { kind: 'live', windowMs: 300_000 } as const
const FIXED = { kind: 'fixed', fromMs: 1000, toMs: 2000 } as const

test('the link has the variables that are set, the window of the page, and no credentials', () => {
  assert.equal(
    grafanaAddress(param, appQuestion('chat & co', new Set(['ml'])), LIVE),
    'https://grafana.example/sub/d/sonde-gpu-app/?var-application=chat+%26+co&var-ns=ml&from=now-300s&to=now',
  )
  assert.equal(
    grafanaAddress(param, appQuestion('chat', new Set(['ml', 'dev'])), FIXED),
    'https://grafana.example/sub/d/sonde-gpu-app/?var-application=chat&from=1000&to=2000',
  )
  assert.equal(
    grafanaAddress(() => '', appQuestion('chat', new Set()), LIVE),
    '',
  )
})

test('the link of a device has its node and the labels of its metrics; other kinds have no dashboard', () => {
  const labels = { rdma_device: 'mlx5_0', port: '1', simulated: 'true' }
  const question = deviceQuestion({ kind: 'nic', host: 'gpu17', labels })
  assert.equal(
    question && grafanaAddress(param, question, FIXED),
    'https://grafana.example/sub/d/sonde-nic/?var-node=gpu17&var-rdma_device=mlx5_0&var-port=1&from=1000&to=2000',
  )
  assert.equal(deviceQuestion({ kind: 'pci', host: 'gpu17', labels }), undefined)
})
