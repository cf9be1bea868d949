import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AppGpuAnswer, GpuField, PodsAnswer } from '@sonde/sdk/api'
import { fixture, nodeBody } from '../../packages/agent/src/sources/scraping/test-exporter.ts'
import { ask } from '../ask.ts'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const PODS = fixture('cluster', 'kube-state-metrics')

const text = (body: string | Buffer): RequestListener => {
  return (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(body)
}

interface Served {
  readonly address: string
  answer: RequestListener
  requests: number
}

async function serve(t: TestContext, answer: RequestListener): Promise<Served> {
  const served = { address: '', answer, requests: 0 }
  const server = createServer((request, response) => {
    served.requests++
    served.answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  served.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`
  return served
}

/** The whole agent over an honest exporter, one that is to fail, and a kube-state-metrics. */
async function bringUp(t: TestContext) {
  const honest: RequestListener = (request, response) => text(nodeBody('gpu-node-h', 'llama-honest'))(request, response)
  const sound: RequestListener = (request, response) =>
    text(nodeBody('gpu-node-a', 'llama-7d9c-x2x4p'))(request, response)
  const elsewhere = await serve(t, sound)
  const [good, other, pods] = [await serve(t, honest), await serve(t, sound), await serve(t, text(PODS))]
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const file = join(dir.path, 'sonde.yaml')
  const common = { interval_ms: 1000, timeout_ms: 3000 }
  const exporters = { addresses: [good.address, other.address], collect_interval_ms: 1000, max_bytes: 1 << 20 }
  const data_sources = [
    { type: 'dcgm_exporter', ...common, ...exporters },
    { type: 'kube_state_metrics', ...common, addresses: [pods.address] },
  ]
  writeFileSync(file, JSON.stringify({ data_sources }))
  const sonde = await startSonde(['agent', '--log-level', 'error', '--config', file])
  t.after(() => sonde.stop())
  const llama = (what: string, holds: (answer: AppGpuAnswer) => boolean) =>
    until(what, 60_000, async () => {
      const answer = await ask<AppGpuAnswer>(sonde, '/api/v1/apps/llama/gpu')
      return holds(answer) && answer
    })
  return { sonde, good, other, pods, elsewhere, sound, llama }
}

const utilOf = ({ pods }: AppGpuAnswer, name: string) =>
  pods.find((pod) => pod.name === name)?.values['gpu-util'] ?? undefined

const FAULTS: readonly (readonly [name: string, answer: RequestListener])[] = [
  ['hangs up', (request) => void request.socket.destroy()],
  ['is silent', () => undefined],
  ['answers 500', (_, response) => void response.writeHead(500).end('internal server error')],
  ['answers with nothing, as while it starts anew', text('')],
  [
    'answers without an end',
    (_, response) => {
      const more = () => void (response.destroyed || response.write('a'.repeat(65_536), () => setImmediate(more)))
      more()
    },
  ],
  [
    'says that it has 3 GB',
    (_, response) => void response.writeHead(200, { 'content-length': `${3 * 2 ** 30}` }).write('a 1\n'),
  ],
  [
    'answers a byte at a time',
    (_, response) => {
      const more = () => void (response.destroyed || response.write('a', () => setTimeout(more, 50)))
      more()
    },
  ],
]

test('pods that ask for GPUs are expected; an exporter that fails costs its own pods, which stay expected', async (t) => {
  const { sonde, other, elsewhere, sound, llama } = await bringUp(t)
  const { services, knowsRequests } = await llama('pods of both sources', ({ pods }) => {
    return pods.length === 3 && pods.some(({ requested, gpus }) => requested === 1 && gpus === 1)
  })
  assert.equal(knowsRequests, true)
  assert.deepEqual(services[0]?.expected, { pods: 2, gpus: 2, seen: 1, missing: ['llama-7d9c-zz9q1'] })
  const redirect: RequestListener = (_, response) => void response.writeHead(302, { location: elsewhere.address }).end()
  for (const [name, answer] of [...FAULTS, ['redirects elsewhere', redirect] as const]) {
    other.answer = sound
    await llama(`both nodes before one ${name}`, (found) => {
      return utilOf(found, 'llama-7d9c-x2x4p') === 97 && utilOf(found, 'llama-honest') === 97
    })
    other.answer = answer
    const failed = await llama(`one node that ${name}`, (found) => utilOf(found, 'llama-7d9c-x2x4p') === undefined)
    assert.equal(utilOf(failed, 'llama-honest'), 97, name)
    const [chat] = failed.services
    assert.ok(chat?.missing.includes('llama-7d9c-x2x4p'), `${name}: ${chat?.missing}`)
    assert.ok((chat?.expected?.pods ?? 0) >= 2, `${name}: it asks for a GPU still`)
  }
  assert.equal(elsewhere.requests, 0, 'no redirect is followed')
  assert.match(sonde.output(), /ready/)
})

/** Bodies in which the GPU of the pod has values that cannot be. */
const impossible = (body: string) =>
  body
    .replace(/^(DCGM_FI_DEV_GPU_UTIL\{.*\}) .*$/gm, '$1 4294967295')
    .replace(/^(DCGM_FI_DEV_POWER_USAGE\{.*\}) .*$/gm, '$1 140737488355330')

test('reasons come from the place that knows them: in pods, ps, the state of the page, found and explain', async (t) => {
  const { sonde, other, pods, llama } = await bringUp(t)
  const named = 'llama-7d9c-x2x4p'
  const podIn = ({ pods }: AppGpuAnswer) => pods.find(({ name }) => name === named)
  const reasonIn = (answer: AppGpuAnswer, field: GpuField) =>
    podIn(answer)?.gaps.find(({ fields }) => fields.includes(field))?.reason ?? ''
  const foundNow = async () => (await ask<{ found: string }>(sonde, '/api/v1/sources/dcgm_exporter')).found

  // What the source refused is told by it, and not called unreported.
  other.answer = (request, response) => text(impossible(nodeBody('gpu-node-a', named)))(request, response)
  const refused = await llama('values that are refused', (answer) => {
    return podIn(answer)?.gpus === 1 && reasonIn(answer, 'gpu-power-w') !== ''
  })
  assert.match(reasonIn(refused, 'gpu-util'), /4294967295/)
  assert.match(reasonIn(refused, 'gpu-power-w'), /^DCGM says that the GPU does not support it$/)
  assert.equal(podIn(refused)?.gpus, 1, 'it holds its GPU all the same')
  const { output } = await runSonde(['ps', '--app', 'llama', '--url', sonde.address])
  assert.match(output, new RegExp(`^${named}: no utilisation: .*4294967295`, 'm'))
  assert.doesNotMatch(output, /not reported of its GPUs/)

  // A pod with a node, of which no start is known, does not wait to be scheduled; one without does.
  const waiting = refused.pods.find(({ name }) => name === 'llama-7d9c-zz9q1')
  assert.match(waiting?.gaps[0]?.reason ?? '', /has no node: it waits to be scheduled/)
  pods.answer = text(
    PODS.replaceAll('uid="a2",container="server",node=""', 'uid="a2",container="server",node="gpu-node-c"'),
  )
  const scheduled = await llama('a node of the pod that waited', (answer) =>
    answer.pods.some(({ name, isScheduled }) => name === 'llama-7d9c-zz9q1' && isScheduled === true),
  )
  const placed = scheduled.pods.find(({ name }) => name === 'llama-7d9c-zz9q1')
  assert.match(placed?.gaps[0]?.reason ?? '', /^it has a node, and it is not known which GPU it holds/)

  // No exporter has this series: the last link lists the series that exist.
  const nobody = 'DCGM_FI_DEV_FB_TOTAL{UUID="GPU-of-nobody"}'
  const explain = () => runSonde(['explain', nobody, '--listen', new URL(sonde.address).host])
  const explained = await explain()
  assert.doesNotMatch(explained.output, /came back: no series/)
  assert.match(explained.output, /none of its \d+ series has these labels; there are UUID="GPU-/)

  // An exporter that stops answering is named with what it answers; device and values leave by one rule.
  assert.equal(await foundNow(), '2 exporters')
  other.answer = (_, response) => void response.writeHead(503).end('busy')
  await until('what is found now', 60_000, async () => /^1 of 2 exporters; .*answers 503/.test(await foundNow()))
  const seen = await llama('the values of the node are gone', (answer) => {
    const pod = podIn(answer)
    assert.ok(pod !== undefined, 'it is expected still')
    const isKnown = Object.values(pod.values).some((value) => value !== null)
    assert.ok(pod.gpus > 0 || !isKnown, 'no values of a GPU that it does not hold')
    return !isKnown
  })
  assert.ok(reasonIn(seen, 'gpu-util') !== '')
  assert.match((await explain()).output, /1 of 2 are read; failed: .* answers 503/)
})

test('where no exporter answers any more, the state names its address and its answer', async (t) => {
  const { sonde, good, other } = await bringUp(t)
  const busy: RequestListener = (_, response) => void response.writeHead(503).end('busy')
  await until('numbers', 60_000, async () => (await ask<PodsAnswer>(sonde, '/api/v1/pods')).state === 'ready')
  good.answer = busy
  other.answer = busy
  const answer = await until('no number', 60_000, async () => {
    const found = await ask<PodsAnswer>(sonde, '/api/v1/pods')
    return found.state !== 'ready' && found
  })
  const told = [answer.summary, ...answer.advice].join(' ')
  assert.match(told, /http:\/\/127\.0\.0\.1:\d+\/metrics answers 503/)
  const { output } = await runSonde(['explain', 'nvml_xid_events_total', '--listen', new URL(sonde.address).host])
  assert.doesNotMatch(output, /came back: no series/)
})
