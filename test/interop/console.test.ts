import assert from 'node:assert/strict'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { AppGpuAnswer, NodeAnswer } from '@sonde/sdk/api'
import { needs } from '../debian.ts'
import { runSonde, startSonde, until } from '../sonde-process.ts'
import { startPrometheus } from './prometheus-peer.ts'

/**
 * Passes requests on to a server, and counts its range queries. Others are not counted: a console renews what it knows
 * of the server by them, whenever that is due.
 */
async function startProxy(t: TestContext, target: string): Promise<{ readonly address: string; rangeCount: number }> {
  const proxy = { address: '', rangeCount: 0 }
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming
    if (url.startsWith('/api/v1/query_range')) proxy.rangeCount++
    const passed = ask(`${target}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  proxy.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}

test(
  'the console answers for the GPUs of an app from a Prometheus that scrapes a node',
  needs('prometheus'),
  async (t) => {
    const node = await startSonde(['agent', '--log-level', 'error', '--only-simulated'])
    t.after(() => node.stop())
    await until('rows of pods', 60_000, async () =>
      (await (await fetch(`${node.address}/metrics`)).text()).includes('pod_gpus{'),
    )
    const prometheus = await startPrometheus(t, new URL(node.address).host, 1)
    const proxy = await startProxy(t, prometheus.address)
    const page = await startSonde(['console', '--prometheus', proxy.address, '--log-level', 'error'])
    t.after(() => page.stop())
    const gpusOf = async () => (await (await fetch(`${page.address}/api/v1/apps/pretrain/gpu`)).json()) as AppGpuAnswer
    const answer = await until('a sample that was scraped', 60_000, async () => {
      const found = await gpusOf()
      return found.pods.length === 4 && found.pods.every(({ gpus }) => gpus === 2) ? found : undefined
    })
    assert.equal(answer.state, 'ready')
    assert.deepEqual(
      answer.pods.map(({ name }) => name),
      ['trainer-0', 'trainer-1', 'trainer-2', 'trainer-3'],
    )
    // Memory of a board does not change: the sum of both GPUs of a pod by PromQL over the raw series, and joined to it.
    const [total] = await prometheus.range('DCGM_FI_DEV_FB_TOTAL{gpu="0"}[1m]')
    const bytes = Number(total?.values.at(-1)?.[1]) * 2 * 2 ** 20
    for (const pod of answer.pods) assert.equal(pod.values['gpu-mem-total'], bytes)

    const { output, code } = await runSonde(['ps', '--prometheus', prometheus.address, '--app', 'pretrain'])
    assert.equal(code, 0, output)
    assert.deepEqual(
      output
        .split('\n')
        .slice(1, 5)
        .map((line) => line.split(/ +/).slice(0, 5).join(' ')),
      answer.pods.map(({ name }) => `ml ${name} pretrain trainer 2`),
    )

    const before = proxy.rangeCount
    const both = await Promise.all([chartsOf(page.address), chartsOf(page.address)])
    assert.equal(proxy.rangeCount - before, 1, 'two equal requests of 32 questions are one round trip')
    const [service] = both[0].services
    assert.equal(service?.name, 'trainer')
    assert.deepEqual(
      service?.metrics.map(({ name }) => name),
      [
        'gpu-util',
        'gpu-mem-used',
        'gpu-tensor-active',
        'gpu-sm-active',
        'gpu-dram-active',
        'gpu-fp16-active',
        'gpu-fp32-active',
        'gpu-power-w',
      ],
    )

    // It looks when it starts, and once a minute.
    const later = await startSonde(['console', '--prometheus', prometheus.address, '--log-level', 'error'])
    t.after(() => later.stop())
    const { simulated } = (await (await fetch(`${later.address}/api/v1/node`)).json()) as NodeAnswer
    assert.equal(simulated, true, 'what a Prometheus has of simulated hardware is said to be simulated')
  },
)

interface Charts {
  readonly services: readonly { readonly name: string; readonly metrics: readonly { readonly name: string }[] }[]
}

async function chartsOf(address: string): Promise<Charts> {
  const endMs = Math.floor(Date.now() / 60_000) * 60_000 + 60_000
  const url = `${address}/api/v1/apps/pretrain/metrics-by-service?services=trainer&start=${endMs - 300_000}&end=${endMs}&period=5`
  return (await (await fetch(url)).json()) as Charts
}

test('a Prometheus that is not there is told, with its address and without its password', async (t) => {
  const page = await startSonde(['console', '--prometheus', 'http://me:secret@127.0.0.1:9', '--log-level', 'error'])
  t.after(() => page.stop())
  const response = await fetch(`${page.address}/api/v1/apps`)
  const text = await response.text()
  assert.equal(response.status, 502)
  assert.match(text, /QRY_BACKEND.*127\.0\.0\.1:9/)
  assert.doesNotMatch(`${text}${page.output()}`, /secret/)
})
