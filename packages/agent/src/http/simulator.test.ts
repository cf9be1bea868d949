import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Batch, readRecords, viewsOf } from '@sonde/sdk'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'
import type { Agent } from '../agent.ts'
import { nvmlGpuType } from '../sources/nvml/type.ts'
import { RUNNING_LIMIT } from '../sources/simulator/names.ts'
import { SCENARIOS } from '../sources/simulator/scenarios/scenarios.ts'
import { simulator } from '../sources/simulator/simulator.ts'
import { simulatorDiag } from '../sources/simulator-diag/simulator-diag.ts'
import type { SourceDefinition } from '../sources/source.ts'

interface Running {
  readonly id: string
  readonly name: string
  readonly device: string
  readonly onsetMs: number
  readonly endMs: number
  readonly severity: number
  readonly state: string
}

interface Simulator {
  readonly enabled: boolean
  readonly refusal: string
  readonly nodeClass: string
  readonly scenarios: readonly { readonly name: string; readonly target: string; readonly targets: readonly string[] }[]
  readonly running: readonly Running[]
}

interface Answer {
  readonly status: number
  readonly body: Running & { readonly error?: { readonly code: string; readonly message: string } }
}

/** An agent with a simulator, and its address. */
function serveSimulator(t: TestContext, options: object = {}) {
  const source: SourceDefinition = {
    ...simulator,
    load: async () => {
      const { create } = await simulator.load()
      return { create: (defaults, context) => create({ ...defaults, ...options }, context) }
    },
  }
  return serveAgent(t, { sources: [source] })
}

async function ask(address: string): Promise<Simulator> {
  return (await (await fetch(`${address}/api/v1/simulator`)).json()) as Simulator
}

async function start(address: string, body: object): Promise<Answer> {
  const response = await fetch(`${address}/api/v1/simulator/scenarios`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

async function stop(address: string, id: string): Promise<number> {
  return (await fetch(`${address}/api/v1/simulator/scenarios/${id}`, { method: 'DELETE' })).status
}

test('without a simulator it says so, and refuses to start and to end', async (t) => {
  const { address } = await serveAgent(t)
  const { enabled, scenarios, running } = await ask(address)
  assert.deepEqual([enabled, scenarios, running], [false, [], []])
  const { status, body } = await start(address, { name: 'straggler' })
  assert.deepEqual([status, body.error?.code], [409, 'SIM_OFF'])
})

/** Asks for the simulated node, as a page of some origin. */
async function simulate(address: string, origin = address) {
  const headers = { 'content-type': 'application/json', origin }
  const response = await fetch(`${address}/api/v1/simulator`, { method: 'POST', headers, body: '{}' })
  const { error } = (await response.json()) as Answer['body']
  return { status: response.status, code: error?.code ?? '', message: error?.message ?? '' }
}

test('a machine without GPUs and NICs starts the simulated node when its own page asks, and once', async (t) => {
  const { address, agent } = await serveAgent(t)
  assert.equal((await simulate(address, 'http://elsewhere.example')).status, 403)
  assert.deepEqual([(await ask(address)).enabled, (await ask(address)).refusal], [false, ''])
  assert.equal((await simulate(address)).status, 201)
  await until('devices', () => agent.devices.list().filter(({ kind }) => kind === 'gpu').length === 8)
  assert.ok(agent.devices.list().every(({ isSimulated }) => isSimulated))
  const { enabled, scenarios } = await ask(address)
  assert.ok(enabled && scenarios.length > 10)
  const again = await simulate(address)
  assert.deepEqual([again.status, again.code], [409, 'SIM_OFF'])
  assert.match(again.message, /runs here already/)
  const detail = await fetch(`${address}/api/v1/sources/simulator`)
  assert.equal(detail.status, 200)
  assert.equal((await start(address, { name: 'straggler' })).status, 201)
})

test('the simulated node is not started where its records would leave', async (t) => {
  const sending = await serveAgent(t, { export: { jsonl: { url: 'http://127.0.0.1:1/' } } })
  assert.match((await simulate(sending.address)).message, /records are exported/)
})

test('tells what can be played, on which devices, and how bad', async (t) => {
  const { address } = await serveSimulator(t)
  const { nodeClass, scenarios } = await ask(address)
  assert.equal(nodeClass, 'hgx-h100')
  assert.deepEqual(
    scenarios.map(({ name }) => name),
    SCENARIOS.map(({ name }) => name),
  )
  for (const { name, target, targets } of scenarios)
    assert.equal(targets.length === 0, target === 'node', `${name} has devices unless it is of the node`)
})

test('starts a scenario that shows in the records, lists it, and ends it', async (t) => {
  const { agent, address } = await serveSimulator(t)
  const limitOf = () => {
    const batch = agent.recent.batches(nvmlGpuType).at(-1)
    const slot = nvmlGpuType.layout.slots.find(({ name }) => name === 'enforced_power_limit')
    return batch === undefined || slot === undefined
      ? 0
      : new DataView(batch.bytes.buffer, batch.bytes.byteOffset).getFloat64(slot.offset, true)
  }
  await until('a healthy sample', () => limitOf() === 700)
  const { status, body } = await start(address, { name: 'power-cap', severity: 0.5, durationS: 600 })
  assert.equal(status, 201)
  assert.deepEqual(
    [body.name, body.device, body.state, body.endMs - body.onsetMs],
    ['power-cap', '', 'running', 600_000],
  )
  await until('a sample with the lower limit', () => limitOf() === 350)
  assert.deepEqual((await ask(address)).running, [body])
  assert.equal(await stop(address, body.id), 204)
  await until('a healthy sample again', () => limitOf() === 700)
  assert.deepEqual((await ask(address)).running, [])
  assert.equal(await stop(address, body.id), 404)
})

test('what waits is told as waiting', async (t) => {
  const { address } = await serveSimulator(t)
  const { body } = await start(address, { name: 'link-flap', device: 'sim-nic-mlx5_2-1', delayS: 500 })
  assert.deepEqual([body.state, body.device, body.severity], ['waiting', 'sim-nic-mlx5_2-1', 4])
})

test('refuses unknown names, wrong values, overlaps and too many, each with its code', async (t) => {
  const { agent, address } = await serveSimulator(t)
  const codeOf = async (body: object) => {
    const { status, body: answer } = await start(address, body)
    return `${status} ${answer.error?.code ?? ''}`
  }
  assert.equal(await codeOf({ name: 'stragler' }), '404 SIM_UNKNOWN')
  assert.equal(await codeOf({ name: 'straggler', device: 'gpu-99' }), '404 SIM_UNKNOWN')
  assert.equal(await codeOf({ name: 'straggler', device: 'sim-nic-mlx5_0-1' }), '400 SIM_FORM')
  assert.equal(await codeOf({ name: 'straggler', delayS: -1 }), '400 SIM_FORM')
  assert.equal(await codeOf({ name: 'straggler', severity: 99 }), '400 SIM_FORM')
  assert.equal(await codeOf({ scenario: 'straggler' }), '400 SIM_FORM')
  assert.equal(await codeOf([]), '400 SIM_FORM')
  assert.equal(await codeOf({ name: 'straggler' }), '201 ')
  assert.equal(await codeOf({ name: 'straggler', device: 'gpu-5' }), '409 SIM_OVERLAP')
  for (const { name } of SCENARIOS.filter((each) => each.name !== 'straggler').slice(0, RUNNING_LIMIT - 1))
    assert.equal(await codeOf({ name }), '201 ', name)
  assert.equal(await codeOf({ name: 'time-slicing' }), '409 SIM_LIMIT')
  assert.equal(agent.http.refused.get('scenarios'), 1)
})

test('DELETE may name JSON and bring none; POST may not', async (t) => {
  const { address } = await serveSimulator(t)
  const { body } = await start(address, { name: 'straggler' })
  const send = (method: string, path: string) =>
    fetch(`${address}/api/v1/simulator/scenarios${path}`, { method, headers: { 'content-type': 'application/json' } })
  assert.equal((await send('DELETE', `/${body.id}`)).status, 204)
  assert.equal((await send('POST', '')).status, 400)
})

test('scenarios of the configuration begin after the start', async (t) => {
  const { agent, address } = await serveSimulator(t, { scenarios: ['straggler@gpu-2:1.5:0', 'link-flap'] })
  await until('a sample', () => agent.sources.every(({ state }) => state === 'reading'))
  const { running } = await ask(address)
  assert.deepEqual(
    running.map(({ name, device, severity, state }) => `${name} ${device} ${severity} ${state}`),
    ['straggler sim-gpu-2 1.5 running', 'link-flap sim-nic-mlx5_3-1 4 waiting'],
  )
})

/** Packets that the first NIC received in the last 200 ms, by its samples in the worker. */
async function lateReceived({ sources }: Agent): Promise<bigint | undefined> {
  const toNs = process.hrtime.bigint()
  const fromMonoNs = String(toNs - 200_000_000n)
  const request = { type: 'doca_diag_sample', device: 'mlx5_0', fromMonoNs, toMonoNs: String(toNs), bytesMax: 16 << 20 }
  const pieces: Batch[] = []
  const running = sources.find(({ definition }) => definition === simulatorDiag)
  await running?.window(request, (piece) => void pieces.push({ ...piece, bytes: piece.bytes.slice() }))
  const packets = pieces.flatMap(({ type, bytes, count, symbols }) =>
    [...readRecords(type, viewsOf(bytes), count, symbols)].map((record) => {
      return (record as unknown as { id_1020000300000000: bigint }).id_1020000300000000
    }),
  )
  return packets.length < 1000 ? undefined : BigInt(packets.at(-1) ?? 0) - BigInt(packets[0] ?? 0)
}

test('a scenario reaches the samples at full rate in their worker, and so does its end', {
  timeout: 60_000,
}, async (t) => {
  const { agent, address } = await serveAgent(t, { sources: [simulator, simulatorDiag] })
  await until('both read', () => agent.sources.every(({ state }) => state === 'reading'))
  await until('packets come', async () => ((await lateReceived(agent)) ?? 0n) > 0n)
  const { status, body } = await start(address, { name: 'link-flap', device: 'sim-nic-mlx5_0-1', severity: 1 })
  assert.equal(status, 201)
  await until('the link is down', async () => (await lateReceived(agent)) === 0n)
  assert.equal(await stop(address, body.id), 204)
  await until('packets come again', async () => ((await lateReceived(agent)) ?? 0n) > 0n)
})
