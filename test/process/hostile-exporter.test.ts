// A hostile exporter must not change, hide or slow the samples of another.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { PodsAnswer, TargetStatus } from '@sonde/sdk/api'
import { nodeBody, serveExporter, withBody } from '../../packages/agent/src/sources/scraping/test-exporter.ts'
import { ask } from '../ask.ts'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000
/** A value that is older is one from before. */
const LATE_MS = 4500

/** A node, and the utilisation of its GPUs. */
function bodyOf(host: string, pod: string, util = 97): string {
  return nodeBody(host, pod).replace(/^(DCGM_FI_DEV_GPU_UTIL\{.*\}) .*$/gm, `$1 ${util}`)
}

/** So many GPUs, of a name each, that a pod of another name each holds. */
function crowd(name: string, count: number): string {
  const lines = Array.from({ length: count }, (_, i) => {
    const labels = `gpu="0",UUID="${name}-${i}",Hostname="crowd",namespace="crowd",pod="${name}-${i}",container="c"`
    return `DCGM_FI_DEV_GPU_TEMP{${labels}} 5\n`
  })
  return lines.join('')
}

interface SourceAnswer {
  readonly samples: number
  readonly restarts: number
  readonly dropped: Readonly<Record<string, number>>
  readonly disputes: number
  readonly failingTargets: number
  readonly found: string
  readonly failures: readonly { readonly place: string; readonly message: string }[]
  readonly targets: readonly TargetStatus[]
}

interface DevicesAnswer {
  readonly devices: readonly {
    readonly id: string
    readonly state: string
    readonly source: string
    readonly labels: Readonly<Record<string, string>>
  }[]
}

/** The whole agent over an honest exporter, and one whose answers a test sets. */
async function bringUp(t: TestContext) {
  const [honest, other] = [await serveExporter(''), await serveExporter('')]
  t.after(() => honest.close())
  t.after(() => other.close())
  honest.answer = (request, response) => withBody(bodyOf('honest', 'llama-honest'))(request, response)
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const file = join(dir.path, 'sonde.yaml')
  const addresses = [honest.address, other.address]
  const source = { type: 'dcgm_exporter', interval_ms: 1000, timeout_ms: 3000, collect_interval_ms: 1000, addresses }
  writeFileSync(file, JSON.stringify({ data_sources: [source] }))
  const sonde = await startSonde(['up', '--log-level', 'error', '--config', file, '--data-dir', dir.path])
  t.after(() => sonde.stop('SIGKILL'))
  const pods = () => ask<PodsAnswer>(sonde, '/api/v1/pods').then((answer) => answer.pods)
  const pod = (name: string) => pods().then((all) => all.find((one) => one.name === name))
  const utilOf = (name: string) => pod(name).then((one) => one?.values['gpu-util'] ?? undefined)
  await until('the honest pod', LIMIT_MS, async () => (await utilOf('llama-honest')) === 97)
  /** Looks at the honest pod again and again: it is never told wrongly, and it is told anew in the end. */
  const staysHonest = async (what: string, forMs: number) => {
    const isFresh = async () => {
      const found = await pod('llama-honest')
      if (found === undefined || (found.ageMs ?? LATE_MS) >= LATE_MS) return false
      assert.deepEqual([found.app, found.gpus, found.values['gpu-util']], ['llama', 1, 97], what)
      return true
    }
    for (const endMs = performance.now() + forMs; performance.now() < endMs; ) {
      await isFresh()
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    await until(`the honest pod beside ${what}`, LIMIT_MS, isFresh)
  }
  const told = () => ask<SourceAnswer>(sonde, '/api/v1/sources/dcgm_exporter')
  const targetOf = async ({ address }: { readonly address: string }) =>
    (await told()).targets.find(({ target }) => target === address)
  const isTold = (what: RegExp) =>
    until(String(what), LIMIT_MS, async () => (await told()).failures.some(({ message }) => what.test(message)))
  return { sonde, file, honest, other, pod, pods, utilOf, staysHonest, told, isTold, targetOf }
}

test('an exporter that tells of GPUs and pods of another is not believed, and is told', async (t) => {
  const { honest, other, utilOf, staysHonest, isTold } = await bringUp(t)
  let scrapes = 0
  const bodies: readonly (readonly [what: string, body: () => string])[] = [
    ['its GPUs', () => bodyOf('honest', 'llama-forged', 1)],
    ['its pod', () => bodyOf('other', 'llama-honest', 1).replaceAll('app="llama"', 'app="stolen"')],
    ['its pod, in every second scrape', () => bodyOf('other', scrapes++ % 2 ? 'llama-honest' : 'llama-other', 1)],
    ['all of it, in every second scrape', () => bodyOf(scrapes++ % 2 ? 'honest' : 'other', 'llama-honest', 1)],
  ]
  for (const [what, body] of bodies) {
    other.answer = (request, response) => withBody(body())(request, response)
    await staysHonest(what, 2500)
  }
  await isTold(/tells of what another tells of, which is not taken: .*; http:\/\/127\.0\.0\.1:\d+\/metrics has /)
  // One missed scrape changes nothing, whoever waits for it.
  other.answer = (request, response) => withBody(bodyOf('honest', 'llama-honest', 55))(request, response)
  await staysHonest('a second address of the same', 1500)
  const sound = honest.answer
  honest.answer = (_, response) => {
    honest.answer = sound
    response.writeHead(500).end()
  }
  await staysHonest('a second address of the same, after one miss', 3000)
  // An exporter with two addresses: the other one goes on where the first fails, until that answers again.
  honest.answer = (_, response) => void response.writeHead(500).end()
  await until('the second address', LIMIT_MS, async () => (await utilOf('llama-honest')) === 55)
  honest.answer = sound
  await until('the first address again', LIMIT_MS, async () => (await utilOf('llama-honest')) === 97)
})

test('an exporter that tells of the node of another takes no device and no app of it, and both are named', async (t) => {
  const { sonde, file, honest, other, pods, staysHonest, told, targetOf } = await bringUp(t)
  const gpus = async () => {
    const { devices } = await ask<DevicesAnswer>(sonde, '/api/v1/devices')
    return devices.filter(({ id }) => id.startsWith('gpu-')).map(({ id, state, labels }) => [id, state, labels.UUID])
  }
  const before = await gpus()
  assert.equal(before.length, 3)
  const [, , uuid = ''] = before[0] as string[]
  const claims = { gpu: '0', UUID: 'GPU-own', Hostname: 'honest', pci_bus_id: '00000000:1B:00.0' }
  const evil = { namespace: 'evil', pod: 'evil-0', container: 'c', app: 'llama', service: 'chat' }
  for (const [what, labels] of [
    ['node, index and place of another', claims],
    ['the node alone', { ...claims, gpu: '7', pci_bus_id: '00000000:E1:00.0' }],
    ['the node without an index', { ...claims, gpu: '', pci_bus_id: '' }],
    ['all of it', { ...claims, UUID: uuid }],
  ] as const) {
    const written = Object.entries({ ...labels, ...evil }).map(([name, value]) => `${name}="${value}"`)
    let scrapes = 0
    other.answer = (request, response) => {
      scrapes++
      withBody(`DCGM_FI_DEV_GPU_UTIL{${written.join(',')}} 1\n`)(request, response)
    }
    await until(`two scrapes of ${what}`, LIMIT_MS, () => Promise.resolve(scrapes > 2))
    await staysHonest(what, 0)
    assert.deepEqual(await gpus(), before, what)
    assert.ok(!(await pods()).some(({ name }) => name === 'evil-0'), what)
    const [dispute] = (await targetOf(other))?.disputes ?? []
    assert.deepEqual([dispute?.subject, dispute?.holder], [`GPU ${labels.UUID} of honest`, honest.address], what)
  }
  const { disputes, dropped } = await told()
  assert.deepEqual([disputes, (dropped.claimed ?? 0) > 0], [1, true])
  for (const name of ['dcgm_exporter', 'gpu-0@honest']) {
    const place = ['--config', file, '--listen', new URL(sonde.address).host]
    const { code, output } = await runSonde(['explain', name, ...place])
    assert.equal(code, 1, output)
    assert.ok(output.includes(`${other.address} reports GPU ${uuid} of honest, which is refused: ${honest.address}`))
  }
})

test('an exporter with 700 000 valid lines costs itself alone: it is stopped, and its worker goes on', async (t) => {
  const { other, staysHonest, told, targetOf } = await bringUp(t)
  const lines = Array.from({ length: 700_000 }, (_, i) => `DCGM_FI_DEV_GPU_TEMP{UUID="many-${i}",Hostname="crowd"} 5\n`)
  other.answer = withBody(lines.join(''))
  await until('it is stopped', LIMIT_MS, async () => (await targetOf(other))?.state === 'stopped')
  await staysHonest('700 000 lines', 2000)
  const target = await targetOf(other)
  assert.match(target?.reason ?? '', /more than 1000 ms of processor time, which max_cpu_ms allows/)
  assert.ok((target?.refused.cpu_time ?? 0) > 0)
  const { restarts, found, failingTargets } = await told()
  assert.deepEqual([restarts, failingTargets], [0, 1])
  assert.ok(found.startsWith(`1 of 2 exporters; ${other.address} answered with work`), found)
  other.answer = withBody('DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-cut",Hostname="cut"} 69')
  await until('it is asked again', LIMIT_MS, async () => (await targetOf(other))?.refused.truncated === 1)
  assert.match((await targetOf(other))?.reason ?? '', /cut off: its last line has no end/)
})

test('an exporter with GPUs and pods without end leaves time and room to others', async (t) => {
  const { honest, other, pods, staysHonest, told, isTold } = await bringUp(t)
  other.answer = withBody(crowd('many', 60_000))
  await staysHonest('60 000 GPUs', 5000)
  let scrapes = 0
  other.answer = (request, response) => withBody(crowd(`renamed-${scrapes++}`, 200))(request, response)
  await staysHonest('200 new GPUs in every scrape', 5000)
  await isTold(/tells of more than max_series/)
  // History has room for what is new of others.
  honest.answer = (request, response) => withBody(bodyOf('honest', 'llama-new'))(request, response)
  await until('a new pod of the honest exporter', LIMIT_MS, async () =>
    (await pods()).some(({ name, values }) => name === 'llama-new' && values['gpu-util'] === 97),
  )
  assert.equal((await told()).restarts, 0)
})

test('an exporter that leaves the list while it answers is read when it is listed again', async (t) => {
  const exporter = await serveExporter('')
  t.after(() => exporter.close())
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const [file, discovery_file] = [join(dir.path, 'sonde.yaml'), join(dir.path, 'targets.json')]
  const list = (...targets: string[]) => writeFileSync(discovery_file, JSON.stringify([{ targets }]))
  const { host } = new URL(exporter.address)
  const source = { type: 'dcgm_exporter', interval_ms: 1000, collect_interval_ms: 1000, discovery_file }
  writeFileSync(file, JSON.stringify({ data_sources: [source] }))
  list(host)
  let delayMs = 0
  exporter.answer = (request, response) =>
    void setTimeout(() => withBody(bodyOf('honest', 'llama-honest'))(request, response), delayMs)
  const sonde = await startSonde(['agent', '--log-level', 'error', '--config', file])
  t.after(() => sonde.stop('SIGKILL'))
  const isThere = async () =>
    (await ask<PodsAnswer>(sonde, '/api/v1/pods')).pods.some(({ values }) => values['gpu-util'] === 97)
  await until('the pod', LIMIT_MS, isThere)
  delayMs = 900
  for (let i = 0; i < 3; i++) {
    list()
    await until('it has left', LIMIT_MS, async () => !(await isThere()))
    list(host)
    await until('it is read again', LIMIT_MS, isThere)
  }
})
